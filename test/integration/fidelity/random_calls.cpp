#include "fidelity/random_calls.hpp"

#include "fidelity/command_forms.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <utility>

namespace holdfast::test {

using namespace std::string_literals;
using namespace std::string_view_literals;

namespace {

// Names of locks, the first ones as hostile as a key can be.
constexpr std::string_view strange_names[] = {
    ""sv,
    "\0"sv,
    "\r\n"sv,
    "a b"sv,
    "{"sv,
    "}{"sv,
    "stock:{7}"sv,
    "\xff\xfe\x80"sv,
    "*"sv,
    "redisson_lock_token:{x}"sv,
    "nineteen hundred and eighty-four, a name that is longer than what fits a small string"sv,
};

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> upper_case) {
    return std::ranges::any_of(upper_case, [&](std::string_view one) {
        return std::ranges::equal(word, one, {}, [](char letter) {
            return static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
        });
    });
}

}  // namespace

call_maker::call_maker(std::uint64_t seed) : random_{seed} {}

void call_maker::start_batch(std::int64_t now_ms) {
    now_ms_ = now_ms;
    fleeting_.clear();
}

// --- keys

std::size_t call_maker::family() {
    auto of = below(families);
    while (fleeting_.contains(lock(of))) {
        of = (of + 1) % families;
    }
    used_.insert(lock(of));
    return of;
}

std::string call_maker::lock(std::size_t of) const {
    return of < std::size(strange_names) ? std::string{strange_names[of]}
                                         : "lock:" + std::to_string(of);
}

std::string call_maker::counter(std::size_t of) const {
    return "redisson_lock_token:{" + lock(of) + "}";
}

std::string call_maker::channel(std::size_t of) const {
    return "redisson_lock__channel:{" + lock(of) + "}";
}

std::string call_maker::queue(std::size_t of) const {
    return "holdfast_queue:{" + lock(of) + "}";
}

std::string call_maker::usual_hold(std::size_t of) const {
    return "holdfast_hold:{" + lock(of) + "}";
}

// Of a read/write lock.
std::string call_maker::of_both_sides(std::string_view beginning, std::size_t of) const {
    return std::string{beginning} + ":{" + lock(of) + "}";
}

std::string call_maker::hold_of(std::size_t of, std::string_view reader) const {
    return "{" + lock(of) + "}:" + std::string{reader} + ":rwlock_timeout:1";
}

std::vector<std::string> call_maker::channels() const {
    std::vector<std::string> all;
    for (std::size_t of = 0; of < families; ++of) {
        all.push_back(channel(of));
        all.push_back(of_both_sides("redisson_rwlock", of));
    }
    for (std::size_t of = 0; of < elections; ++of) {
        all.push_back("holdfast_leader:{elected:" + std::to_string(of) + "}");
    }
    return all;
}

void call_maker::use(std::string key) {
    if (std::ranges::find(call_.keys, key) == call_.keys.end()) {
        call_.keys.push_back(std::move(key));
    }
}

std::string call_maker::key(std::string_view form) {
    auto const which = below(10);
    if (which >= 4) {
        for (int attempt = 0; attempt < 4; ++attempt) {
            auto name = std::string{type_of(form)} + ":" + std::to_string(below(6));
            if (!fleeting_.contains(name)) {
                used_.insert(name);
                use(name);
                return name;
            }
        }
    }
    auto const of = family();
    auto name = which < 2 ? lock(of) : counter(of);
    use(name);
    return name;
}

// Most commands of a type get keys of that type, or they would only ever be refused.
std::string_view call_maker::type_of(std::string_view form) {
    constexpr std::string_view types[] = {"string"sv, "hash"sv, "list"sv, "zset"sv};
    switch (form.front()) {
        case 'H': return "hash";
        case 'L': return "list";
        case 'Z': return "zset";
        default: return form.starts_with("RP") ? "list"sv : any(types);
    }
}

void call_maker::script_cache() {
    auto const& which = *library_scripts()[below(library_scripts().size())];
    switch (below(8)) {
        case 0: call_.words = {"SCRIPT", "FLUSH"}; break;
        case 1: call_.words = {"EVALSHA", "x", "0"}; break;
        default: call_.words = {"SCRIPT", "LOAD", std::string{which.text}}; break;
    }
}

// --- commands

// What may lie under the keys of a lock when a script comes.
void call_maker::scene() {
    auto const of = family();
    use(lock(of));
    use(counter(of));
    auto& words = call_.words;
    switch (below(13)) {
        case 12:
            use(usual_hold(of));
            words = {
                "SET",
                usual_hold(of),
                chance(70) ? std::to_string(below(9'000'000)) : content()
            };
            break;
        case 0: words = {"SET", counter(of), counter_content()}; break;
        case 1: words = {"SET", counter(of), counter_content(), "PX", milliseconds()}; break;
        case 2: words = {"DEL", counter(of)}; break;
        case 3: words = {"DEL", lock(of)}; break;
        case 4:
        case 5: words = {"HSET", lock(of), holder(), content()}; break;
        case 6: words = {"HDEL", lock(of), holder()}; break;
        case 7: words = {"PEXPIRE", lock(of), milliseconds()}; break;
        case 8: words = {"PERSIST", lock(of)}; break;
        case 9: words = {"PEXPIRE", counter(of), milliseconds()}; break;
        case 10:
            if (chance(20)) {
                words = {"RPUSH", chance(50) ? lock(of) : counter(of), content()};
                break;
            }
            [[fallthrough]];
        default: words = {"DEL", lock(of), counter(of)}; break;
    }
}

// The same for a read/write lock.
void call_maker::reading_scene() {
    auto const of = family();
    auto const who = holder_of(of);
    auto const heard = of_both_sides("holdfast_rwlock_heard", of);
    auto const queue = of_both_sides("holdfast_rwlock_queue", of);
    for (auto const& one : {lock(of), hold_of(of, who), heard, queue}) {
        use(one);
    }
    auto const entry = (chance(50) ? "w " : "r ") + who;
    auto& words = call_.words;
    switch (below(10)) {
        case 0:
            words = {"HSET", lock(of), "mode", "read", who, chance(90) ? "1" : content()};
            break;
        case 1: words = {"HSET", lock(of), "mode", "write", who + ":write", "1"}; break;
        case 2: words = {"HSET", lock(of), "mode", chance(80) ? "read" : content()}; break;
        case 3:
        case 4: words = {"SET", hold_of(of, who), "1", "PX", "3600000"}; break;
        case 5: words = {"DEL", lock(of), hold_of(of, who)}; break;
        case 6: words = {"PEXPIRE", lock(of), "3600000"}; break;
        // Long ago, and in a far future.
        case 7: words = {"ZADD", heard, chance(50) ? "1" : "4102444800000", entry}; break;
        case 8: words = {"ZADD", queue, std::to_string(below(9)), entry}; break;
        default: words = {"DEL", queue, heard}; break;
    }
}

void call_maker::fill(std::string_view form) {
    auto const whole = form;
    while (!form.empty()) {
        auto const space = form.find(' ');
        auto const word = form.substr(0, space);
        form = space == std::string_view::npos ? std::string_view{} : form.substr(space + 1);
        if (!word.starts_with('$')) {
            add(std::string{word});
            continue;
        }
        switch (word[1]) {
            case 'k': add(key(whole)); break;
            case 'f': add(holder()); break;
            case 'v': add(content()); break;
            case 'n': add(integer()); break;
            case 't': add(milliseconds()); break;
            case 'e': add(instant()); break;
            case 'd': add(score()); break;
            case 'r': add(bound()); break;
            case 'i': add(index()); break;
            case 'c': add(std::to_string(below(3))); break;
            default: std::abort();
        }
    }
}

void call_maker::command() {
    fill(any(forms));
}

void call_maker::program() {
    add("EVAL");
    add(std::string{any(programs)});
    add("0");
    fill(any(forms));
}

// --- calls

// Words that are missing, doubled or moved, so that any of them may be taken for a key or a time.
void call_maker::mutate() {
    auto& words = call_.words;
    auto const at = words.begin() + static_cast<std::ptrdiff_t>(below(words.size()));
    switch (below(5)) {
        case 0:
            if (words.size() > 1) {
                words.erase(at);
            }
            break;
        case 1: words.insert(at, std::string{*at}); break;
        case 2: *at = junk(); break;
        case 3: words.push_back(junk()); break;
        default: words.resize(1 + below(words.size())); break;
    }
    call_.fleeting = true;
    call_.wild = true;
    call_.keys.clear();
    constexpr std::size_t longest_key = 200;
    for (auto const& word : words) {
        if (word.size() <= longest_key) {
            use(word);
        }
    }
    call_.counters = call_.keys;
}

random_call call_maker::next() {
    call_ = {};
    used_.clear();
    auto const kind = below(1000);
    if (kind < 550) {
        call_script();
    } else if (kind < 555) {
        script_cache();
    } else if (kind < 740) {
        scene();
    } else if (kind < 800) {
        reading_scene();
    } else if (kind < 950) {
        command();
    } else {
        program();
    }
    // A server takes words behind these that the model does not know.
    bool const grows = std::ranges::any_of(call_.words, [](auto const& word) {
        return is_one_of(word, {"ZRANK", "PEXPIRE", "PEXPIREAT", "SCRIPT"});
    });
    if (!grows && below(1000) < 8) {
        mutate();
    } else if (chance(5)) {
        std::ranges::transform(call_.words[0], call_.words[0].begin(), [](char letter) {
            return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
        });
    }
    for (auto const& word : call_.words) {
        call_.unordered = call_.unordered || is_one_of(word, {"HKEYS", "HGETALL"});
    }
    if (call_.fleeting) {
        fleeting_.insert(used_.begin(), used_.end());
    }
    return std::move(call_);
}

}  // namespace holdfast::test
