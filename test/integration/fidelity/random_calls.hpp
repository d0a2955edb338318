#ifndef HOLDFAST_TEST_FIDELITY_RANDOM_CALLS_HPP
#define HOLDFAST_TEST_FIDELITY_RANDOM_CALLS_HPP

#include "protocol/backend.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <random>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

/// All scripts of the library.
std::span<detail::script const* const> library_scripts();

struct random_call {
    std::vector<std::string> words;
    /// Where the call may leave something.
    std::vector<std::string> keys;
    /// Which of them may get a content that depends on the server's clock.
    std::vector<std::string> counters;
    /// What it sets may end within seconds.
    bool fleeting = false;
    /// Nobody can say to which keys it does what: it has to be the last of its batch.
    bool wild = false;
    /// The reply lists something in an order that only the server knows.
    bool unordered = false;
};

/// Makes calls of scripts and commands, hostile ones among them. The keys are those of a few locks
/// and some others, so that the calls meet.
///
/// A batch is a number of calls that are made without a pause. Keys that may end in its course are
/// not used again in it: nobody could say whether they are still there.
class call_maker {
public:
    explicit call_maker(std::uint64_t seed);

    void start_batch(std::int64_t now_ms);
    /// Enough keys are left for another call.
    bool may_go_on() const { return fleeting_.size() < families / 2; }
    random_call next();

    /// Where the scripts tell waiters something.
    std::vector<std::string> channels() const;

private:
    static constexpr std::size_t families = 40;
    static constexpr std::size_t elections = 3;

    std::size_t below(std::size_t end) { return static_cast<std::size_t>(random_() % end); }
    bool chance(std::size_t percent) { return below(100) < percent; }
    template <std::size_t Size>
    std::string_view any(std::string_view const (&choice)[Size]) {
        return choice[below(Size)];
    }

    std::size_t family();
    std::string lock(std::size_t of) const;
    std::string counter(std::size_t of) const;
    std::string channel(std::size_t of) const;
    std::string queue(std::size_t of) const;
    std::string usual_hold(std::size_t of) const;
    std::string of_both_sides(std::string_view beginning, std::size_t of) const;
    std::string hold_of(std::size_t of, std::string_view reader) const;
    std::string key(std::string_view form);
    std::string_view type_of(std::string_view form);

    std::string holder();
    std::string holder_of(std::size_t lock);
    std::string content();
    std::string integer();
    std::string milliseconds();
    std::string instant();
    std::string score();
    std::string bound();
    std::string index();
    std::string nonce();
    std::string junk();
    std::string counter_content();

    void use(std::string key);
    void start_script(detail::script const& which, std::vector<std::string> const& keys);
    void add(std::string word) { call_.words.push_back(std::move(word)); }
    void call_script();
    void acquire(detail::script const& which);
    void acquire_several(detail::script const& which);
    void quorum_acquire(detail::script const& which);
    void raise_token(detail::script const& which);
    void take_over(detail::script const& which);
    void add_learned_terms(bool learns);
    void add_ended_holds(bool learns);
    void release(detail::script const& which);
    void renew(detail::script const& which);
    void renew_many(detail::script const& which);
    void inspect(detail::script const& which);
    void force_release(detail::script const& which);
    void counted(detail::script const& which);
    void about_permits(detail::script const& which);
    void elect(detail::script const& which);
    void acquire_side(detail::script const& which);
    void release_side(detail::script const& which);
    void renew_reader(detail::script const& which);
    void renew_readers(detail::script const& which);
    void inspect_side(detail::script const& which);
    void force_release_side(detail::script const& which);
    void fair(detail::script const& which);
    void unknown_script(detail::script const& which);
    void script_cache();
    void scene();
    void reading_scene();
    void fill(std::string_view form);
    void command();
    void program();
    void mutate();

    std::mt19937_64 random_;
    std::int64_t now_ms_ = 0;
    std::set<std::string, std::less<>> fleeting_;  // names of locks, and other keys
    std::set<std::string, std::less<>> used_;      // by this call
    std::array<std::string, families> last_holder_;
    random_call call_;
};

}  // namespace holdfast::test

#endif
