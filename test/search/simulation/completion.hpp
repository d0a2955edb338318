#ifndef HOLDFAST_TEST_SIMULATION_COMPLETION_HPP
#define HOLDFAST_TEST_SIMULATION_COMPLETION_HPP

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/post.hpp>

#include <memory>
#include <utility>

namespace holdfast::sim {

/// A completion handler until it is posted to its executor, once.
template <class... Args>
class completion {
public:
    completion() = default;
    template <class Handler>
    completion(Handler handler, boost::asio::any_io_executor const& otherwise)
        : body_{std::make_unique<holder<Handler>>(std::move(handler), otherwise)} {}

    [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(body_); }

    void post(Args... args) {
        if (auto const body = std::move(body_)) {
            body->post(std::move(args)...);
        }
    }

private:
    struct base {
        virtual ~base() = default;
        virtual void post(Args... args) = 0;
    };
    template <class Handler>
    struct holder final : base {
        holder(Handler h, boost::asio::any_io_executor const& o)
            : handler{std::move(h)},
              otherwise{o} {}
        void post(Args... args) override {
            auto const executor = boost::asio::get_associated_executor(handler, otherwise);
            boost::asio::post(
                executor,
                [handler = std::move(handler), ... results = std::move(args)]() mutable {
                    std::move(handler)(std::move(results)...);
                }
            );
        }
        Handler handler;
        boost::asio::any_io_executor otherwise;
    };

    std::unique_ptr<base> body_;
};

}  // namespace holdfast::sim

#endif
