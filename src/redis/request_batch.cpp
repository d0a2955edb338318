#include "redis/request_batch.hpp"

#include <array>
#include <charconv>

namespace holdfast::detail {

namespace {

// A number as the text of an argument.
class decimal {
public:
    explicit decimal(std::uint64_t value) noexcept
        : end_{std::to_chars(text_.data(), text_.data() + text_.size(), value).ptr} {}
    [[nodiscard]] std::string_view view() const noexcept {
        return {text_.data(), static_cast<std::size_t>(end_ - text_.data())};
    }

private:
    std::array<char, 20> text_;
    char* end_;
};

}  // namespace

void push_script(
    boost::redis::request& to,
    call const& what,
    bool by_text,
    std::uint64_t nonce,
    script_dialect dialect,
    std::vector<std::string_view>& words
) {
    auto const form = what.what().in(dialect);
    decimal const last{nonce};
    decimal const key_count{what.keys()};
    words.clear();
    words.push_back(by_text ? form.text : form.sha1);
    words.push_back(key_count.view());
    for (std::size_t i = 0; i < what.size(); ++i) {
        words.push_back(what.word(i));
    }
    words.push_back(last.view());
    to.push_range(by_text ? "EVAL" : "EVALSHA", words);
}

void request_batch::add(
    call const& what,
    bool by_text,
    std::uint64_t nonce,
    script_dialect dialect
) {
    push_script(request_, what, by_text, nonce, dialect, words_);
    ++size_;
}

void request_batch::add_asking() {
    request_.push("ASKING");
    ++size_;
}

void request_batch::add_check(std::uint64_t nonce) {
    decimal const text{nonce};
    request_.push("PING", text.view());
    ++size_;
}

void request_batch::clear() {
    request_.clear();
    size_ = 0;
}

std::shared_ptr<request_batch> spare_batches::take() {
    if (kept_.empty()) {
        return std::make_shared<request_batch>();
    }
    auto one = std::move(kept_.back());
    kept_.pop_back();
    return one;
}

void spare_batches::give_back(std::shared_ptr<request_batch> const& used) {
    if (kept_.size() < most && used->request().payload().size() <= largest) {
        used->clear();
        kept_.push_back(used);
    }
}

}  // namespace holdfast::detail
