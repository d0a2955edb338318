#ifndef TRACES_FINISHED_SPANS_HPP
#define TRACES_FINISHED_SPANS_HPP

#include "span.hpp"

#include <cstddef>
#include <mutex>
#include <vector>

namespace traces {

/// Spans that have ended and were not sent yet. Adding one never waits for a collector: when there
/// are too many, the newest are dropped.
///
/// May be used by any number of threads.
class finished_spans {
public:
    explicit finished_spans(std::size_t most = 2'048) : most_{most} {}

    /// Ends now.
    void add(span ended) noexcept;

    [[nodiscard]] std::vector<span> take();
    [[nodiscard]] std::size_t dropped() const;

private:
    std::size_t const most_;
    mutable std::mutex mutex_;
    std::vector<span> spans_;
    std::size_t dropped_ = 0;
};

}  // namespace traces

#endif
