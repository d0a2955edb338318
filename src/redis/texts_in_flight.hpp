#ifndef HOLDFAST_REDIS_TEXTS_IN_FLIGHT_HPP
#define HOLDFAST_REDIS_TEXTS_IN_FLIGHT_HPP

#include "protocol/script.hpp"

#include <cstddef>
#include <map>

namespace holdfast::detail {

/// The scripts whose text is in flight on one connection.
///
/// The server executes a connection's requests in their order, so what leaves behind such a text
/// finds the script by its hash.
class texts_in_flight {
public:
    void add(script const& what) { ++times_[&what]; }
    /// It was answered.
    void remove(script const& what) noexcept {
        if (auto const at = times_.find(&what); at != times_.end() && at->second != 0) {
            --at->second;
        }
    }
    void clear() noexcept { times_.clear(); }

    [[nodiscard]] bool has(script const& what) const noexcept {
        auto const at = times_.find(&what);
        return at != times_.end() && at->second != 0;
    }

private:
    std::map<script const*, std::size_t> times_;
};

}  // namespace holdfast::detail

#endif
