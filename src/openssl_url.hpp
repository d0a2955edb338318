#ifndef HOLDFAST_OPENSSL_URL_HPP
#define HOLDFAST_OPENSSL_URL_HPP

#include <memory>
#include <string>
#include <string_view>

namespace holdfast::detail {

/// What OpenSSL finds in the text of a URL with one host. A missing part is empty.
class openssl_url {
public:
    explicit openssl_url(std::string const& text);

    /// False if it is not a URL.
    [[nodiscard]] bool valid() const noexcept { return valid_; }
    [[nodiscard]] std::string_view user() const { return at(1); }
    [[nodiscard]] std::string_view host() const { return at(2); }
    [[nodiscard]] std::string_view port() const { return at(3); }

private:
    struct free_text {
        void operator()(char* text) const noexcept;
    };

    [[nodiscard]] std::string_view at(int i) const {
        return parts_[i] ? std::string_view{parts_[i].get()} : std::string_view{};
    }

    // The scheme is the first one.
    std::unique_ptr<char, free_text> parts_[4];
    bool valid_ = false;
};

}  // namespace holdfast::detail

#endif
