// The fault of an exchange: how it strikes its message, and when a stall ends.

#include "scenario.hpp"
#include "support/run.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

namespace holdfast::test {

namespace asio = boost::asio;

namespace {

// Says so when the message is struck: just before each of its faults, or behind all of it.
message_parts with_marks(message_parts parts, std::function<void(bool is_last)> const& struck) {
    auto const is_fault = [](auto const& part) {
        return std::holds_alternative<stream_fault>(part);
    };
    auto left = std::count_if(parts.begin(), parts.end(), is_fault);
    message_parts marked;
    for (auto& part : parts) {
        if (is_fault(part)) {
            --left;
            marked.emplace_back([struck, is_last = left == 0] { struck(is_last); });
        }
        marked.push_back(std::move(part));
    }
    if (marked.size() == parts.size()) {
        marked.emplace_back([struck] { struck(true); });
    }
    return marked;
}

}  // namespace

// The server will not know the script of the next acquire.
void exchange::forget_script() {
    stage_.board.proxy().when_client_sends(
        "redisson_lock_token:{" + key_ + "}",
        command_fault::unknown_script
    );
}

void exchange::arm() {
    stage_.board.set_edit(name_, strike_once());
    armed_at_ = lease_clock::now();
    reconnects_ = mine_.by.stats().reconnects;
    if (fault_ && fault_->crowded) {
        begin_acquire(crowd_[0]);
    }
}

fault_router::edit exchange::strike_once() {
    // Used by the proxy's thread.
    struct progress {
        bool struck = false;
        std::size_t connection = 0;
        std::string held_back{};
    };
    auto struck = [self = weak_from_this(),
                   executor =
                       stage_.executor](std::size_t connection, std::size_t size, bool is_last) {
        asio::post(executor, [self, connection, size, is_last] {
            if (auto const one = self.lock()) {
                one->on_struck(connection, size, is_last);
            }
        });
    };
    return
        [so_far = std::make_shared<progress>(), what = &step_, key = key_, fault = fault_, struck](
            server_message const& message
        ) -> std::optional<message_parts> {
            auto const number = message.connection.number;
            if (so_far->struck) {
                bool const overtakes = !so_far->held_back.empty() && so_far->connection == number;
                return overtakes ? std::optional{message_parts{
                                       message.bytes,
                                       std::exchange(so_far->held_back, {})
                                   }}
                                 : std::nullopt;
            }
            auto const subject = subject_of(message);
            if (link_of(message.connection) != what->link || subject.kind != what->message ||
                !(subject.key.empty() || subject.key == key)) {
                return std::nullopt;
            }
            so_far->struck = true;
            so_far->connection = number;
            auto parts = fault && fault->rewrite ? fault->rewrite(message.bytes)
                                                 : message_parts{message.bytes};
            if (fault && fault->overtaken) {
                so_far->held_back = message.bytes;
                parts.clear();
            }
            return with_marks(
                std::move(parts),
                [struck, number, size = message.bytes.size()](bool is_last) {
                    struck(number, size, is_last);
                }
            );
        };
}

void exchange::on_struck(std::size_t connection, std::size_t size, bool is_last) {
    connection_ = connection;
    size_ = size;
    if (fault_ && fault_->stall != disturbance::end::none) {
        asio::co_spawn(stage_.executor, heal(is_last), asio::detached);
    } else if (is_last) {
        healed_.happen();
    }
    struck_.happen();
}

asio::awaitable<void> exchange::struck() {
    if (fault_ && fault_->crowded) {
        begin_acquire(crowd_[1]);
        // Some operations send in a later turn.
        co_await asio::post(stage_.executor, asio::use_awaitable);
        begin_acquire(crowd_[2]);
    }
    bool const happened = co_await struck_.wait(stage_.bound);
    if (!happened) {
        found(violation::missed, "the message did not come");
        healed_.happen();
    }
}

// Of one stall. The next one comes after it, however late.
asio::awaitable<void> exchange::heal(bool is_last) {
    auto const self = shared_from_this();
    if (fault_->stall == disturbance::end::when_given_up) {
        co_await given_up();
    } else {
        constexpr std::chrono::milliseconds brief_stall{3};
        co_await sleep_for(brief_stall);
    }
    stage_.board.proxy()
        .set_mode(direction::to_client, proxy_mode::forward(), connection_number(connection_));
    if (is_last) {
        healed_.happen();
    }
}

// The operation has ended, or its request has run into its time-out and the connection not yet; or
// the connection has been replaced.
asio::awaitable<void> exchange::given_up() {
    using enum message_kind;
    constexpr std::array without_timeout{
        hello,
        probe_ping,
        time,
        server,
        info,
        health,
        subscribe,
        message,
        unsubscribe
    };
    bool const has_timeout =
        std::find(without_timeout.begin(), without_timeout.end(), step_.message) ==
        without_timeout.end();
    auto const limit = has_timeout ? stage_.timeout * 3 / 2 : stage_.bound;
    auto const over = [this] {
        bool const given_up =
            step_.link == link_kind::commands && mine_.since >= armed_at_ && mine_.ended.happened();
        return given_up || stage_.board.connection(name_, step_.link) != connection_;
    };
    co_await co_eventually(limit, over);
}

}  // namespace holdfast::test
