// A recipe of the documentation, word for word: see test/unit/pages_test.cpp. It is tested in
// test/unit/lock_spans_recipe_test.cpp.
// clang-format off

#include <holdfast/observer.hpp>
#include <boost/asio/error.hpp>
#include <map>
#include <memory>
#include <mutex>
#include <string>

// In place of a tracing library.
struct trace_span {
    virtual ~trace_span() = default;
    virtual void add_event(std::string_view name) = 0;
    virtual void set_error(std::string_view why) = 0;
    virtual void end() = 0;
};
struct tracer {
    virtual ~tracer() = default;
    virtual std::shared_ptr<trace_span> start(std::string_view name, std::string_view lock, trace_span* parent) = 0;
};

class lock_spans final : public holdfast::observer {
public:
    explicit lock_spans(std::shared_ptr<tracer> to) : tracer_{std::move(to)} {}

private:
    void on_acquire(acquisition const& what) noexcept override {
        std::lock_guard const guard{mutex_};
        // This runs inside the call of acquire(): the parent is the span that is active in this thread.
        acquiring_[what.number] = tracer_->start("acquire", what.lock, nullptr);
    }
    void on_wait(acquisition const& what) noexcept override {
        std::lock_guard const guard{mutex_};
        acquiring_[what.number]->add_event("wait");
    }
    void on_grant(acquisition const& what, grant const& of) noexcept override {
        std::lock_guard const guard{mutex_};
        auto const acquired = acquiring_.extract(what.number).mapped();
        if (of.kind != holdfast::grant_kind::joined && of.token.value != 0) {
            holding_[{std::string{what.lock}, of.token.value}] = tracer_->start("hold", what.lock, acquired.get());
        }
        acquired->end();
    }
    void on_no_grant(acquisition const& what, holdfast::error_code why, std::chrono::nanoseconds) noexcept override {
        std::lock_guard const guard{mutex_};
        auto const refused = acquiring_.extract(what.number).mapped();
        if (why && why != boost::asio::error::operation_aborted) refused->set_error(why.message());
        refused->end();
    }
    void on_loss(held_lock const& what, holdfast::loss_reason why) noexcept override {
        std::lock_guard const guard{mutex_};
        if (auto const held = find(what); held != holding_.end()) held->second->set_error(to_string(why));
    }
    void on_release(held_lock const& what, std::chrono::nanoseconds) noexcept override {
        std::lock_guard const guard{mutex_};
        if (auto const held = find(what); held != holding_.end()) {
            held->second->end();
            holding_.erase(held);
        }
    }

    using spans = std::map<std::pair<std::string, std::uint64_t>, std::shared_ptr<trace_span>>;
    // The last grant that is not newer: a quorum lock may raise its token while the lock is held.
    spans::iterator find(held_lock const& what) {
        auto const after = holding_.upper_bound({std::string{what.lock}, what.token.value});
        bool const found = after != holding_.begin() && std::prev(after)->first.first == what.lock;
        return found ? std::prev(after) : holding_.end();
    }

    std::shared_ptr<tracer> tracer_;
    std::mutex mutex_;
    std::map<std::uint64_t, std::shared_ptr<trace_span>> acquiring_;  // by the number of the acquisition
    spans holding_;                                                   // by the lock and its token
};
