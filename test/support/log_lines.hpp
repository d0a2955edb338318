#ifndef HOLDFAST_TEST_SUPPORT_LOG_LINES_HPP
#define HOLDFAST_TEST_SUPPORT_LOG_LINES_HPP

#include <holdfast/logger.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::test {

/// Keeps what a client logs, at every level. Thread-safe; copies share the lines.
class log_lines {
public:
    log_sink sink() const {
        return [kept = kept_](log_level level, std::string_view message) {
            std::lock_guard const hold{kept->mutex};
            kept->lines.emplace_back(level, std::string{message});
        };
    }

    /// How many lines contain `text`.
    std::size_t count(std::string_view text) const {
        return count_if([&](auto const& one) { return contains(one.second, text); });
    }

    /// How many of them have this level.
    std::size_t count(log_level level, std::string_view text = {}) const {
        return count_if([&](auto const& one) {
            return one.first == level && contains(one.second, text);
        });
    }

    /// For messages of failing tests.
    std::string all() const {
        std::lock_guard const hold{kept_->mutex};
        std::string text;
        for (auto const& [level, message] : kept_->lines) {
            text += message + "\n";
        }
        return text;
    }

private:
    using line = std::pair<log_level, std::string>;
    struct storage {
        std::mutex mutex;
        std::vector<line> lines;
    };

    static bool contains(std::string_view message, std::string_view text) {
        return message.find(text) != std::string_view::npos;
    }

    template <class Predicate>
    std::size_t count_if(Predicate holds) const {
        std::lock_guard const hold{kept_->mutex};
        auto const found = std::count_if(kept_->lines.begin(), kept_->lines.end(), holds);
        return static_cast<std::size_t>(found);
    }

    std::shared_ptr<storage> kept_ = std::make_shared<storage>();
};

}  // namespace holdfast::test

#endif
