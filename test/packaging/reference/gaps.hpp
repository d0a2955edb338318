// A header with gaps, for Doxygen and not for a compiler. check_reference.py has to find each gap
// that is named here, and no other. Every name that is not below a gap shows what is enough.

/// @file
/// A header that is described has its macros in the reference.

#ifndef HOLDFAST_NOT_A_NAME_HPP
#define HOLDFAST_NOT_A_NAME_HPP
#endif

/// A number.
#define HOLDFAST_MACRO 1

// gap: HOLDFAST_UNCOMMENTED_MACRO: brief description
#define HOLDFAST_UNCOMMENTED_MACRO 1

/// @cond
// gap: HOLDFAST_LOST_MACRO: not in the reference
#define HOLDFAST_LOST_MACRO(a) a
/// @endcond

/// The namespace of the library.
namespace holdfast {

namespace detail {
struct not_for_users {};

template <class Derived>
class hidden_base {
public:
    void inherited_from_detail();
};
}  // namespace detail

/// A base class.
///
/// @par Thread safety   Safe.
template <class Derived>
class base {
public:
    /// Described with each class that has it.
    ///
    /// @par Errors   None.
    void inherited();

    // gap: holdfast::base::inherited_uncommented() noexcept: brief description
    // gap: holdfast::with_base::inherited_uncommented() noexcept: brief description
    void inherited_uncommented() noexcept;

private:
    void inherited_by_nobody();
};

/// A class that shows what it inherits.
///
/// @par Thread safety   Safe.
class with_base : public base<with_base> {
public:
    /// Its own.
    int number;
};

// gap: holdfast::with_hidden_base::inherited_from_detail: not in the reference
/// A class whose base class is not for users, but its functions are.
class with_hidden_base : public detail::hidden_base<with_hidden_base> {};

/// A class that keeps to itself what it inherits.
class hides_what_it_inherits : public detail::hidden_base<hides_what_it_inherits> {
    void inherited_from_detail() noexcept;
};

// What Doxygen loses: the headers have it all the same.
/// @cond
// gap: holdfast::lost_function: not in the reference
template <class Body>
    requires std::is_invocable_v<Body&, int>
[[nodiscard]] auto lost_function(Body&& body, int options = {}) -> std::invoke_result_t<Body&>;

// gap: holdfast::lost_class: not in the reference
// gap: holdfast::lost_class::lost_class: not in the reference
// gap: holdfast::lost_class::operator(): not in the reference
// gap: holdfast::lost_class::operator bool: not in the reference
// gap: holdfast::lost_class::lost_member: not in the reference
class HOLDFAST_EXPORT lost_class final {
public:
    explicit lost_class(int number) noexcept : lost_class{number, {}} {}
    auto operator()(int) const { return number_ < 1; }
    explicit operator bool() const noexcept;
    std::array<int, 2> lost_member{1, 2};

private:
    int number_ = 0;
};

// gap: holdfast::lost_kind: not in the reference
// gap: holdfast::lost_kind::lost_value: not in the reference
enum class lost_kind : int { lost_value = 1 };
/// @endcond

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

template <>
struct fmt::formatter<holdfast::with_base> : fmt::formatter<int> {
    int not_ours();
};
