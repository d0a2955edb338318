#ifndef HOLDFAST_RESP_READ_BUFFER_HPP
#define HOLDFAST_RESP_READ_BUFFER_HPP

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace holdfast::detail::resp {

/// Bytes that were read and not used yet, in one piece. It grows by what has come.
class read_buffer {
public:
    /// Where the next bytes are read to. Moves those that are there.
    [[nodiscard]] std::span<char> prepare() {
        if (begin_ == end_) {
            begin_ = end_ = 0;
            if (bytes_.size() > kept) {
                std::vector<char>{}.swap(bytes_);
            }
        } else if (begin_ > bytes_.size() / 2) {
            std::copy(bytes_.data() + begin_, bytes_.data() + end_, bytes_.data());
            end_ -= begin_;
            begin_ = 0;
        }
        if (bytes_.size() - end_ < least) {
            bytes_.resize(std::max(first, 2 * bytes_.size()));
        }
        return {bytes_.data() + end_, bytes_.size() - end_};
    }
    void commit(std::size_t size) noexcept { end_ += size; }
    [[nodiscard]] std::string_view data() const noexcept {
        return {bytes_.data() + begin_, end_ - begin_};
    }
    void consume(std::size_t size) noexcept { begin_ += size; }

private:
    static constexpr std::size_t first = 16 * 1024;
    static constexpr std::size_t least = 4 * 1024;
    static constexpr std::size_t kept = 64 * 1024;

    std::vector<char> bytes_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
};

}  // namespace holdfast::detail::resp

#endif
