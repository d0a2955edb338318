#include "redis/request_batch.hpp"

#include <string>
#include <utility>

namespace holdfast::detail {

// Found by its arguments: how Boost.Redis asks for a word.
void boost_redis_to_bulk(std::string& to, ready_word const& word) {
    to.append(word.bulk_string);
}

void push_script(
    boost::redis::request& to,
    call const& what,
    bool by_text,
    std::uint64_t nonce,
    script_dialect dialect,
    script_words& words
) {
    auto const form = what.what().in(dialect);
    words.own.clear();
    words.own.add(by_text ? form.text : form.sha1);
    words.own.add(std::uint64_t{what.keys()});
    words.own.add(nonce);
    words.all.clear();
    words.all.push_back({words.own.bulk_string(0)});
    words.all.push_back({words.own.bulk_string(1)});
    for (std::size_t i = 0; i < what.size(); ++i) {
        words.all.push_back({what.bulk_string(i)});
    }
    words.all.push_back({words.own.bulk_string(2)});
    to.push_range(by_text ? "EVAL" : "EVALSHA", words.all);
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
    request_.push("PING", nonce);
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
