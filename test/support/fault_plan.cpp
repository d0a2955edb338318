#include "fault_plan.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::test {

namespace {

template <class Orders, class Order>
void give(Orders& orders, connection_selector which, Order order) {
    if (!which.number && which.text.empty() && which.absent.empty()) {
        orders.clear();  // it applies to all: those before it can no longer count
    }
    orders.push_back({.which = std::move(which), .order = std::move(order)});
}

template <class Order, class Orders>
Order last_match(Orders const& orders, connection_record const& connection) {
    auto const found = std::find_if(orders.rbegin(), orders.rend(), [&](auto const& each) {
        return each.which.matches(connection);
    });
    return found == orders.rend() ? Order{} : found->order;
}

template <class Order, class Orders>
Order last_match(Orders const& orders, direction way, connection_record const& connection) {
    auto const found = orders.find(way);
    return found == orders.end() ? Order{} : last_match<Order>(found->second, connection);
}

}  // namespace

void fault_plan::set_mode(direction way, proxy_mode mode, connection_selector which) {
    give(modes_[way], std::move(which), mode);
}

void fault_plan::set_fragments(direction way, fragments sizes, connection_selector which) {
    fragmenting order{sizes, std::make_shared<std::minstd_rand>(sizes.seed)};
    give(fragments_[way], std::move(which), std::move(order));
}

void fault_plan::set_rewriter(message_rewriter rewriter, connection_selector which) {
    give(rewriters_, std::move(which), std::move(rewriter));
}

void fault_plan::add_command_fault(
    std::string text,
    command_fault fault,
    connection_selector which
) {
    on_command_.push_back({.which = std::move(which), .text = std::move(text), .fault = fault});
}

proxy_mode fault_plan::mode(direction way, connection_record const& connection) const {
    return last_match<proxy_mode>(modes_, way, connection);
}

fragments fault_plan::fragment(direction way, connection_record const& connection) const {
    auto const order = last_match<fragmenting>(fragments_, way, connection);
    auto next = order.sizes;
    if (order.random && next.most > next.least) {
        std::uniform_int_distribution<std::size_t> sizes{next.least, next.most};
        next.least = next.most = sizes(*order.random);
    }
    return next;
}

message_parts fault_plan::rewrite(server_message message) const {
    if (auto const rewriter = last_match<message_rewriter>(rewriters_, message.connection)) {
        return rewriter(std::move(message));
    }
    return {std::move(message.bytes)};
}

void fault_plan::forget(std::size_t number) {
    auto const is_for_it = [number](auto const& each) { return each.which.number == number; };
    for (auto& [way, modes] : modes_) {
        std::erase_if(modes, is_for_it);
    }
    for (auto& [way, sizes] : fragments_) {
        std::erase_if(sizes, is_for_it);
    }
    std::erase_if(rewriters_, is_for_it);
    std::erase_if(on_command_, is_for_it);
}

std::optional<command_fault> fault_plan::take_command_fault(
    std::string const& command,
    connection_record const& connection
) {
    auto const found = std::find_if(on_command_.begin(), on_command_.end(), [&](auto const& each) {
        return each.which.matches(connection) && command.find(each.text) != std::string::npos;
    });
    if (found == on_command_.end()) {
        return std::nullopt;
    }
    auto const fault = found->fault;
    on_command_.erase(found);
    return fault;
}

}  // namespace holdfast::test
