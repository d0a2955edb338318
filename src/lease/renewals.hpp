#ifndef HOLDFAST_LEASE_RENEWALS_HPP
#define HOLDFAST_LEASE_RENEWALS_HPP

#include "core/lease_terms.hpp"
#include "lease/hold.hpp"
#include "protocol/primitive.hpp"
#include "runtime/client_context.hpp"

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace holdfast::detail {

class tenure;

/// The renewals of a client that are due. They are collected for a moment, and leave as one script
/// for many locks.
///
/// What is renewed was handed in by the strand of its holder, each time: a holder that is stuck
/// does not renew.
///
/// It is a part of the client.
class renewals {
public:
    /// Of one script. The server runs it in a fraction of a millisecond.
    static constexpr std::size_t most_in_a_batch = 100;

    explicit renewals(client_context& client);
    ~renewals();

    /// From any thread: has the hold of `due` renewed within some milliseconds, unless that tenure
    /// is over until then. It is told what comes of it.
    void hand_in(std::shared_ptr<tenure> due);
    /// Nothing is renewed any more.
    void on_context_gone() noexcept;

private:
    using list = std::vector<std::shared_ptr<tenure>>;

    // On the client's strand.
    void on_handed_in();
    void wait();
    void send(std::size_t count);
    void send_together(std::span<std::shared_ptr<tenure> const> due);
    // Tenures that share a hold are renewed as one lock: each has the number of its lock.
    struct batch {
        std::vector<hold::request> requests;
        std::vector<std::size_t> numbers;
    };
    static void add(batch& to, std::vector<primitive::member>& locks, hold::request request);
    static void on_answer(batch const& sent, exec_result const& result);

    client_context& client_;
    std::optional<timer> timer_;
    bool armed_ = false;

    std::mutex mutex_;
    list waiting_;
};

}  // namespace holdfast::detail

#endif
