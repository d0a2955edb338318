// Without coroutines: every step is a handler. What a task needs lives in an object that the
// handler of its next step keeps alive.
#include "main.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <utility>

using namespace std::chrono_literals;

namespace {

class customer : public std::enable_shared_from_this<customer> {
public:
    customer(std::shared_ptr<holdfast::client> client, std::string name, int& served)
        : client_{std::move(client)},
          name_{std::move(name)},
          served_{served},
          timer_{client_->get_executor()} {}

    void start() {
        auto next = [self = shared_from_this()](holdfast::error_code ec, holdfast::lease lease) {
            self->on_acquired(ec, std::move(lease));
        };
        client_->lock("till").acquire(std::move(next));
        fmt::print("{} asks for the lock\n", name_);
    }

private:
    void on_acquired(holdfast::error_code ec, holdfast::lease lease) {
        if (ec) {
            return fail("acquire", ec);
        }
        // The lease is kept in the object: one that goes out of scope here would be released here.
        lease_ = std::move(lease);
        fmt::print("{} has it, with token {}\n", name_, lease_.token().value);

        timer_.expires_after(200ms);  // stands for work
        timer_.async_wait([self = shared_from_this()](holdfast::error_code) { self->on_worked(); });
    }

    void on_worked() {
        lease_.release([self = shared_from_this()](holdfast::error_code ec) {
            self->on_released(ec);
        });
    }

    void on_released(holdfast::error_code ec) {
        if (ec) {
            return fail("release", ec);
        }
        fmt::print("{} gave it back\n", name_);
        ++served_;
    }

    void fail(char const* step, holdfast::error_code ec) const {
        fmt::print(stderr, "{}: {}: {}\n", name_, step, ec.message());
    }

    std::shared_ptr<holdfast::client> client_;
    std::string name_;
    int& served_;
    asio::steady_timer timer_;
    holdfast::lease lease_;
};

}  // namespace

int main(int argc, char** argv) try {
    asio::io_context context{1};
    int served = 0;
    {
        auto config = holdfast::parse_url(argc > 1 ? argv[argc - 1] : "redis://127.0.0.1");
        auto client = std::make_shared<holdfast::client>(context, std::move(config));
        for (auto const* name : {"Ada", "Grace", "Barbara"}) {
            std::make_shared<customer>(client, name, served)->start();
        }
    }
    context.run();  // returns when the last customer, and the client with her, has gone
    expect(served == 3, "not everybody was served");
} catch (std::exception const& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
}
