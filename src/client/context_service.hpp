#ifndef HOLDFAST_CLIENT_CONTEXT_SERVICE_HPP
#define HOLDFAST_CLIENT_CONTEXT_SERVICE_HPP

#include <boost/asio/execution_context.hpp>

#include <mutex>
#include <unordered_set>

namespace holdfast::detail {

class client_state;

/// Tells the clients of an execution context that it is about to be destroyed. Leases and clients
/// may outlive it; what they hold of it may not.
class context_service final : public boost::asio::execution_context::service {
public:
    using key_type = context_service;
    inline static boost::asio::execution_context::id id;

    explicit context_service(boost::asio::execution_context& context)
        : boost::asio::execution_context::service{context} {}

    void add(client_state& client);
    void remove(client_state& client) noexcept;

private:
    void shutdown() noexcept override;

    std::mutex mutex_;
    std::unordered_set<client_state*> clients_;
};

}  // namespace holdfast::detail

#endif
