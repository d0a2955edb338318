#ifndef EXAMPLES_TESTING_ORDER_PROCESSOR_HPP
#define EXAMPLES_TESTING_ORDER_PROCESSOR_HPP

// The code under test: several processes take orders from the same table, and each order is packed
// by one of them.

#include <holdfast/client.hpp>
#include <holdfast/fencing_token.hpp>

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <string>

namespace shop {

namespace asio = boost::asio;

/// In a shop, a table of a database.
class order_table {
public:
    virtual ~order_table() = default;
    virtual asio::awaitable<bool> is_packed(int order) = 0;
    /// Writes nothing and says no if a greater token has written this order before: see the
    /// documentation's page on fencing.
    virtual asio::awaitable<bool> write(
        int order,
        std::string status,
        holdfast::fencing_token token
    ) = 0;
};

/// What takes its time: a machine, a person, another service.
class packing_line {
public:
    virtual ~packing_line() = default;
    virtual asio::awaitable<void> pack(int order) = 0;
};

enum class outcome {
    packed,
    packed_before,
    busy,         // another processor has the order
    lost,         // this one has lost it meanwhile, and has written nothing
    unavailable,  // no lock server: try again later
};

class order_processor {
public:
    order_processor(
        std::string name,
        holdfast::client& locks,
        order_table& orders,
        packing_line& line,
        std::chrono::seconds patience = std::chrono::seconds{2}
    );

    /// The processor must live until it is done.
    asio::awaitable<outcome> process(int order);

private:
    std::string name_;
    holdfast::client& locks_;
    order_table& orders_;
    packing_line& line_;
    std::chrono::seconds patience_;
};

}  // namespace shop

#endif
