#ifndef HOLDFAST_MEMORY_SERVER_VALUE_HPP
#define HOLDFAST_MEMORY_SERVER_VALUE_HPP

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::memory {

/// One RESP3 message.
struct value {
    enum class kind {
        nil,
        integer,
        bulk,
        status,
        error,  // `text` has the code first and no hyphen
        array,
        map,       // key, value, key, value ...
        real,      // `text` is the number as the server writes it
        verbatim,  // as bulk, without the three letters of its format
        push,
    };

    kind type = kind::nil;
    std::int64_t number = 0;
    std::string text{};
    std::vector<value> elements{};

    bool operator==(value const&) const = default;

    bool is_error() const { return type == kind::error; }
    bool is_nil() const { return type == kind::nil; }

    static value nil() { return {}; }
    static value integer(std::int64_t number) { return {kind::integer, number, {}, {}}; }
    static value bulk(std::string_view text) { return {kind::bulk, 0, std::string{text}, {}}; }
    static value status(std::string_view text) { return {kind::status, 0, std::string{text}, {}}; }
    static value error(std::string_view text) { return {kind::error, 0, std::string{text}, {}}; }
    static value real(std::string_view text) { return {kind::real, 0, std::string{text}, {}}; }
    static value verbatim(std::string_view text) {
        return {kind::verbatim, 0, std::string{text}, {}};
    }
    static value array(std::vector<value> elements = {}) {
        return {kind::array, 0, {}, std::move(elements)};
    }
    static value map(std::vector<value> elements = {}) {
        return {kind::map, 0, {}, std::move(elements)};
    }
    static value push(std::vector<value> elements = {}) {
        return {kind::push, 0, {}, std::move(elements)};
    }

    /// For messages of failing tests: one line, with what is not printable escaped.
    std::string describe() const;
};

/// What a connection that speaks RESP2 gets instead.
value to_resp2(value message);

}  // namespace holdfast::memory

#endif
