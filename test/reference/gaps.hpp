// A header with gaps, for Doxygen and not for a compiler. check_reference.py has to find each gap
// that is named here, and no other. Every name that is not below a gap shows what is enough.

// gap: the reference: fewer than 150 names

/// The namespace of the library.
namespace holdfast {

namespace detail {
struct not_for_users {};
}  // namespace detail

// gap: holdfast::no_comment: brief description
struct no_comment {
    // gap: holdfast::no_comment::member: brief description
    int member;
};

/// An enumeration.
enum class color {
    // gap: holdfast::color::red: brief description
    red,
    /// Like grass.
    green,
};

// gap: holdfast::text: brief description
using text = char const*;

/// A constant.
constexpr int constant = 1;

/// Data without functions need not speak of threads.
struct data {
    /// A number.
    int number;
    // gap: holdfast::data::nothing: brief description
    int nothing;
};

/// A class with functions.
// gap: holdfast::speaks_of_no_threads: thread safety
class speaks_of_no_threads {
public:
    /// Cannot fail.
    ~speaks_of_no_threads();
};

/// A class that has what it needs, and functions that have not.
///
/// @par Thread safety   Safe.
class complete {
public:
    /// @{
    /// One comment for several names.
    complete(complete&&) noexcept;
    complete(complete const&) = delete;
    /// @}

    // gap: holdfast::complete::uncommented() noexcept: brief description
    void uncommented() noexcept;

    // gap: holdfast::complete::says_no_errors(): errors
    /// Says nothing of its errors.
    void says_no_errors();

    /// Says them.
    ///
    /// @throws std::bad_alloc if there is no memory.
    void throws();

    /// @{
    /// Says everything.
    ///
    /// @par Completion     `void(error_code)`
    /// @par Cancellation
    /// None.
    /// @par Lifetimes      Any.
    /// @par Errors         None.
    template <class Token>
    void all(Token&& token);

    template <class Token>
    void all(int options, Token&& token);
    /// @}

    /// Says everything by a reference.
    ///
    /// @par Completion, cancellation, lifetimes, errors   As `all()`.
    template <class Token>
    void refers(Token&& token);

    /// Says it in two steps.
    ///
    /// @par Completion, cancellation, lifetimes   As `refers()`.
    /// @par Errors   As `throws()`.
    template <class Token>
    void refers_on(Token&& token);

    // gap: holdfast::complete::no_completion(Token &&token): completion
    /// An operation.
    ///
    /// @par Cancellation, lifetimes, errors   As `all()`.
    template <class Token>
    void no_completion(Token&& token);

    // gap: holdfast::complete::no_cancellation(Token &&token) noexcept: cancellation
    // gap: holdfast::complete::no_cancellation(Token &&token) noexcept: errors
    /// That nothing is thrown says nothing of the errors of an operation.
    ///
    /// @par Completion, lifetimes   As `all()`.
    template <class Token>
    void no_cancellation(Token&& token) noexcept;

    // gap: holdfast::complete::no_lifetimes(Token &&token): lifetimes
    /// An operation.
    ///
    /// @par Completion, cancellation, errors   As `all()`.
    template <class Token>
    void no_lifetimes(Token&& token);

    // gap: holdfast::complete::no_text(Token &&token): lifetimes
    /// A heading without a text.
    ///
    /// @par Completion, cancellation, errors   As `all()`.
    /// @par Lifetimes
    template <class Token>
    void no_text(Token&& token);

    // gap: holdfast::complete::refers_to_nothing(): errors
    /// What does not exist.
    ///
    /// @par Errors   As `nowhere()`.
    void refers_to_nothing();

    // gap: holdfast::complete::refers_to_a_gap(): errors
    /// What says nothing itself.
    ///
    /// @par Errors   As `says_no_errors()`.
    void refers_to_a_gap();

    // gap: holdfast::complete::refers_to_itself(): errors
    /// Round and round.
    ///
    /// @par Errors   As `refers_to_itself()`.
    void refers_to_itself();

    // gap: holdfast::complete::coroutine(): completion
    // gap: holdfast::complete::coroutine(): cancellation
    // gap: holdfast::complete::coroutine(): lifetimes
    /// What can be awaited is an operation too.
    ///
    /// @par Errors   None.
    asio::awaitable<void> coroutine();

private:
    void not_for_users();
    friend class not_for_users_either;
};

// gap: holdfast::free_function() noexcept: thread safety
/// Speaks of no threads.
void free_function() noexcept;

/// Speaks of them.
///
/// @par Thread safety   Safe.
void free_and_safe() noexcept;

}  // namespace holdfast
