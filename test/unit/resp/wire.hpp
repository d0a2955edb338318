#ifndef HOLDFAST_TEST_UNIT_RESP_WIRE_HPP
#define HOLDFAST_TEST_UNIT_RESP_WIRE_HPP

#include "resp/decoder.hpp"
#include "resp/message.hpp"

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

/// A value as a test expects it.
struct wire_value {
    detail::resp::node_type type;
    std::string text;
    std::uint32_t size;
    std::uint8_t depth;

    friend bool operator==(wire_value const&, wire_value const&) = default;
};
using wire_message = std::vector<wire_value>;

inline wire_message values_of(detail::resp::message const& from) {
    wire_message all;
    for (std::size_t i = 0; i < from.nodes().size(); ++i) {
        auto const& one = from.nodes()[i];
        all.push_back({one.type, std::string{from.text(i)}, one.size, one.depth});
    }
    return all;
}

/// What a decoder makes of all bytes.
struct decoded {
    std::vector<wire_message> messages;
    detail::resp::decode_status end = detail::resp::decode_status::incomplete;
    std::uint64_t scanned = 0;

    friend bool operator==(decoded const& a, decoded const& b) {
        return a.messages == b.messages && a.end == b.end;
    }
};

/// Decodes bytes that come in pieces which end at the places that `next_end` names.
template <class NextEnd>
decoded decode_in_pieces(
    std::string_view bytes,
    NextEnd next_end,
    detail::resp::decoder_limits limits = {}
) {
    using detail::resp::decode_status;
    detail::resp::decoder decoder{limits};
    decoded all;
    std::size_t begin = 0;
    for (std::size_t end = 0; end < bytes.size() && all.end == decode_status::incomplete;) {
        end = next_end(end);
        // A place of its own, of the right size: a sanitizer sees each byte too many.
        std::string const copy{bytes.substr(begin, end - begin)};
        std::string_view left{copy};
        while ((all.end = decoder.resume(left)) == decode_status::complete) {
            all.messages.push_back(values_of(decoder.current(left)));
            left.remove_prefix(decoder.message_size());
            begin += decoder.message_size();
            decoder.next();
        }
    }
    all.scanned = decoder.scanned();
    return all;
}

inline decoded decode_whole(std::string_view bytes, detail::resp::decoder_limits limits = {}) {
    return decode_in_pieces(bytes, [&](std::size_t) { return bytes.size(); }, limits);
}

inline decoded decode_bytewise(std::string_view bytes, detail::resp::decoder_limits limits = {}) {
    return decode_in_pieces(bytes, [](std::size_t at) { return at + 1; }, limits);
}

/// Makes random messages: their bytes, and what they should be decoded to. Always the same ones.
class random_messages {
public:
    explicit random_messages(unsigned seed) : random_{seed} {}

    std::size_t below(std::size_t end) {
        return std::uniform_int_distribution<std::size_t>{0, end - 1}(random_);
    }
    bool one_in(std::size_t n) { return below(n) == 0; }

    struct made {
        std::string bytes;
        wire_message values;
    };
    made next() {
        made one;
        if (one_in(8)) {
            add_attribute(one, 0);
        }
        if (one_in(4)) {
            auto const size = 1 + below(4);
            head(one, '>', size, size, detail::resp::node_type::push, 0);
            text(one, 1);
            for (std::size_t i = 1; i < size; ++i) {
                add(one, 1);
            }
        } else {
            add(one, 0);
        }
        return one;
    }

private:
    using type = detail::resp::node_type;

    std::string any_bytes(bool line) {
        std::string bytes(below(12), ' ');
        for (auto& c : bytes) {
            c = line ? static_cast<char>('!' + below(90)) : static_cast<char>(below(256));
        }
        return bytes;
    }
    static void put(made& to, type what, std::string text, std::size_t depth) {
        auto const size = static_cast<std::uint32_t>(text.size());
        to.values.push_back({what, std::move(text), size, static_cast<std::uint8_t>(depth)});
    }
    void line(made& to, char sign, std::string text, type what, std::size_t depth) {
        to.bytes += sign + text + "\r\n";
        put(to, what, std::move(text), depth);
    }
    void text(made& to, std::size_t depth) {
        if (one_in(2)) {
            line(to, '+', any_bytes(true), type::text, depth);
        } else {
            bulk(to, '$', any_bytes(false), type::text, depth);
        }
    }
    static void bulk(made& to, char sign, std::string text, type what, std::size_t depth) {
        to.bytes += sign + std::to_string(text.size()) + "\r\n" + text + "\r\n";
        put(to, what, std::move(text), depth);
    }
    static void head(
        made& to,
        char sign,
        std::size_t announced,
        std::size_t size,
        type what,
        std::size_t depth
    ) {
        to.bytes += sign + std::to_string(announced) + "\r\n";
        to.values.push_back(
            {what, {}, static_cast<std::uint32_t>(size), static_cast<std::uint8_t>(depth)}
        );
    }
    void add_attribute(made& to, std::size_t depth) {
        made dropped;
        auto const pairs = below(3);
        dropped.bytes = "|" + std::to_string(pairs) + "\r\n";
        for (std::size_t i = 0; i < 2 * pairs; ++i) {
            add(dropped, depth + 1);
        }
        to.bytes += dropped.bytes;
    }
    void add(made& to, std::size_t depth) {
        if (depth < 7 && one_in(10)) {
            add_attribute(to, depth);
        }
        auto const what = below(depth < 6 ? 15 : 12);
        auto const number = std::to_string(static_cast<std::int64_t>(random_()) - (1LL << 31));
        switch (what) {
            case 0: line(to, '-', any_bytes(true), type::error, depth); break;
            case 1: line(to, ':', number, type::number, depth); break;
            case 2: line(to, '#', one_in(2) ? "t" : "f", type::boolean, depth); break;
            case 3: line(to, ',', "1.5e" + std::to_string(below(9)), type::real, depth); break;
            case 4: line(to, '(', number + "00000000000000", type::big_number, depth); break;
            case 5: {
                static constexpr std::string_view nulls[] = {"_\r\n", "$-1\r\n", "*-1\r\n"};
                to.bytes += nulls[below(3)];
                put(to, type::null, "", depth);
                break;
            }
            case 6: bulk(to, '!', any_bytes(false), type::error, depth); break;
            case 7: {
                auto const words = any_bytes(false);
                to.bytes += "=" + std::to_string(words.size() + 4) + "\r\ntxt:" + words + "\r\n";
                put(to, type::text, words, depth);
                break;
            }
            case 12:
            case 13:
            case 14: {
                auto const announced = below(4);
                auto const size = what == 12 ? 2 * announced : announced;
                head(
                    to,
                    "%*~"[what - 12],
                    announced,
                    size,
                    what == 12   ? type::map
                    : what == 13 ? type::array
                                 : type::set,
                    depth
                );
                for (std::size_t i = 0; i < size; ++i) {
                    add(to, depth + 1);
                }
                break;
            }
            default: text(to, depth);
        }
    }

    std::mt19937 random_;
};

}  // namespace holdfast::test

#endif
