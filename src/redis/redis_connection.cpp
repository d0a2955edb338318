#include "redis/redis_connection.hpp"

#include "redis/tls.hpp"

namespace holdfast::detail {

std::shared_ptr<redis_connection> make_redis_connection(
    boost::asio::any_io_executor const& executor,
    config const& settings,
    tls_trust& trust
) {
    return std::make_shared<redis_connection>(
        strand_of(executor),
        make_tls_context(settings, trust)
    );
}

}  // namespace holdfast::detail
