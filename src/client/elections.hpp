#ifndef HOLDFAST_CLIENT_ELECTIONS_HPP
#define HOLDFAST_CLIENT_ELECTIONS_HPP

#include "client/look_loop.hpp"
#include "core/lease_terms.hpp"
#include "runtime/client_context.hpp"
#include "runtime/runtime.hpp"

#include <holdfast/error.hpp>

#include <memory>
#include <optional>
#include <vector>

namespace holdfast::detail {

class mandate;

/// The elections that a client leads or observes, which are told what happens to its connections.
/// Used on the client's strand; it is a part of the client.
class elections {
public:
    explicit elections(client_context& client) noexcept : client_{client} {}

    void add(std::shared_ptr<mandate> const& which);
    [[nodiscard]] look_loops& observers() noexcept { return observers_; }

    void on_connected(client_context::some const& those);
    void clear() noexcept;

private:
    void proclaim_again(client_context::some const& those);
    void arm();

    client_context& client_;
    look_loops observers_;
    std::vector<std::weak_ptr<mandate>> led_;
    std::optional<timer> timer_;
};

}  // namespace holdfast::detail

#endif
