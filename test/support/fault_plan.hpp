#ifndef HOLDFAST_TEST_SUPPORT_FAULT_PLAN_HPP
#define HOLDFAST_TEST_SUPPORT_FAULT_PLAN_HPP

#include "proxy_faults.hpp"

#include <map>
#include <memory>
#include <random>

namespace holdfast::test {

/// What a proxy has been told to do. Used on the proxy's thread only.
///
/// Of standing orders the last that matches a connection counts. Faults happen once and are then
/// forgotten.
class fault_plan {
public:
    void set_mode(direction way, proxy_mode mode, connection_selector which);
    void set_fragments(direction way, fragments sizes, connection_selector which);
    void set_rewriter(message_rewriter rewriter, connection_selector which);
    void add_command_fault(std::string text, command_fault fault, connection_selector which);

    proxy_mode mode(direction way, connection_record const& connection) const;

    /// The next one; `least` and `most` are its size.
    fragments fragment(direction way, connection_record const& connection) const;
    message_parts rewrite(server_message message) const;

    std::optional<command_fault> take_command_fault(
        std::string const& command,
        connection_record const& connection
    );
    /// Drops the orders for one connection, which is closed.
    void forget(std::size_t number);

    /// How many faults have not happened yet.
    std::size_t pending() const { return on_command_.size(); }

private:
    template <class Order>
    struct standing {
        connection_selector which;
        Order order;
    };

    struct fault_on_command {
        connection_selector which;
        std::string text;
        command_fault fault;
    };

    struct fragmenting {
        fragments sizes{};
        std::shared_ptr<std::minstd_rand> random{};
    };

    template <class Order>
    using orders = std::vector<standing<Order>>;

    std::map<direction, orders<proxy_mode>> modes_;
    std::map<direction, orders<fragmenting>> fragments_;
    orders<message_rewriter> rewriters_;
    std::vector<fault_on_command> on_command_;
};

}  // namespace holdfast::test

#endif
