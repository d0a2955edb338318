#include "client/inspect.hpp"

#include "client/request.hpp"
#include "protocol/primitive.hpp"
#include "protocol/target.hpp"

#include <utility>

namespace holdfast::detail {

void inspect(
    std::shared_ptr<client_state> client,
    std::shared_ptr<target const> on,
    inspect_handler handler
) {
    send_request(
        std::move(client),
        std::move(on),
        std::move(handler),
        false,
        {},
        [](client_state& by, target const& asked, holder_id const&, nanos timeout) {
            return asked.speaks->inspect(asked, timeout, by.hands_over());
        },
        [](script_reply const& reply, lock_info& info, client_state& from, target const& of
        ) -> error_code {
            auto read = of.speaks->read_inspect(reply);
            if (read.what == lock_reading::kind::corrupt) {
                return errc::corrupt_state;
            }
            info.held = read.what == lock_reading::kind::held;
            info.never_expires = info.held && !read.remaining;
            info.remaining = read.remaining;
            info.holder = std::move(read.holder);
            info.hold_count = read.hold_count;
            info.last_token.value = read.last_token;
            info.readers = static_cast<std::size_t>(read.readers);
            info.waiting_clients = static_cast<std::size_t>(read.waiting);
            info.local_waiters = from.acquires().waiters_of(of);
            return {};
        }
    );
}

void force_release(
    std::shared_ptr<client_state> client,
    std::shared_ptr<target const> on,
    force_handler handler
) {
    send_request(
        std::move(client),
        std::move(on),
        std::move(handler),
        false,
        {},
        [](client_state& by, target const& asked, holder_id const&, nanos timeout) {
            auto const patience = by.settings().waiter_patience;
            return asked.speaks->force_release(asked, timeout, patience);
        },
        [](script_reply const& reply, bool& freed, client_state& from, target const& of
        ) -> error_code {
            auto const read = of.speaks->read_force_release(reply);
            if (read.what == force_release_reply::kind::corrupt) {
                return errc::corrupt_state;
            }
            freed = read.what == force_release_reply::kind::freed;
            if (freed) {
                from.acquires().on_freed(of, read.notified);
            }
            return {};
        }
    );
}

}  // namespace holdfast::detail
