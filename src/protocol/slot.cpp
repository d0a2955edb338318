#include "protocol/slot.hpp"

#include <array>
#include <string>
#include <vector>

namespace holdfast::detail {

namespace {

// CRC-16/XMODEM, as the Redis Cluster specification names it.
constexpr std::uint16_t polynomial = 0x1021;

constexpr std::array<std::uint16_t, 256> make_table() {
    std::array<std::uint16_t, 256> table{};
    for (unsigned byte = 0; byte < table.size(); ++byte) {
        unsigned crc = byte << 8U;
        for (int bit = 0; bit < 8; ++bit) {
            crc = (crc & 0x8000U) != 0 ? (crc << 1U) ^ polynomial : crc << 1U;
        }
        table[byte] = static_cast<std::uint16_t>(crc);
    }
    return table;
}

constexpr auto crc_of_byte = make_table();

std::uint16_t crc16(std::string_view text) noexcept {
    unsigned crc = 0;
    for (char const c : text) {
        auto const byte = static_cast<unsigned char>(c);
        crc = ((crc << 8U) ^ crc_of_byte[((crc >> 8U) ^ byte) & 0xffU]) & 0xffffU;
    }
    return static_cast<std::uint16_t>(crc);
}

// What is between the first `{` and the first `}` behind it, unless that is nothing.
std::string_view hashed_part(std::string_view key) noexcept {
    auto const open = key.find('{');
    if (open == std::string_view::npos) {
        return key;
    }
    auto const close = key.find('}', open + 1);
    bool const empty = close == std::string_view::npos || close == open + 1;
    return empty ? key : key.substr(open + 1, close - open - 1);
}

constexpr std::uint32_t no_tag = 0xffffffffU;

std::vector<std::uint32_t> make_tags() {
    std::vector<std::uint32_t> tags(slot_count, no_tag);
    auto left = tags.size();
    for (std::uint32_t number = 0; left > 0; ++number) {
        auto& tag = tags[slot_of(std::to_string(number))];
        if (tag == no_tag) {
            tag = number;
            --left;
        }
    }
    return tags;
}

}  // namespace

std::uint16_t slot_of(std::string_view key) noexcept {
    return crc16(hashed_part(key)) % slot_count;
}

std::uint32_t tag_of_slot(std::uint16_t slot) {
    static auto const tags = make_tags();
    return tags.at(slot);
}

}  // namespace holdfast::detail
