#ifndef HOLDFAST_RUNTIME_STRAND_QUEUE_HPP
#define HOLDFAST_RUNTIME_STRAND_QUEUE_HPP

#include <holdfast/fwd.hpp>

#include <boost/asio/recycling_allocator.hpp>

#include <atomic>
#include <memory>
#include <type_traits>
#include <utility>

namespace holdfast::detail {

/// The functions that wait for a `strand`, and the right to run them. One turn at a time has that
/// right. A function that is added while no turn has it gets a turn scheduled on the strand's
/// context. Functions that are added later wait for that turn.
///
/// Thread safety: `add` may be called by any thread, `run` and `abandon` by the scheduled turn.
class strand_queue {
public:
    /// When a turn has run so many functions that were added during it, the context gets its thread
    /// back: others wait, too.
    static constexpr int most_added_in_a_turn = 16;

    strand_queue() = default;
    strand_queue(strand_queue const&) = delete;
    strand_queue& operator=(strand_queue const&) = delete;
    ~strand_queue() { drop_all(); }

    /// `schedule()` has the context call `run` once, or `abandon` if it never will.
    ///
    /// @throws std::bad_alloc, or what `schedule` throws; then `f` will not run.
    template <class Function, class Schedule>
    void add(Function&& f, Schedule schedule) {
        auto* const made = make(std::forward<Function>(f));
        if (add_to_turn(made) || !push(made)) {
            return;
        }
        scheduling now{*this};
        try {
            schedule();
        } catch (...) {
            // Taken inside, the turn has run `f`, and the exception is that of a function.
            if (!now.turn_taken) {
                withdraw(made);
            }
            throw;
        }
        if (now.turn_dropped) {
            drop();
        }
    }

    /// Takes the right to run functions. False if somebody has it.
    [[nodiscard]] bool claim() noexcept;

    /// Takes a scheduled turn: runs what waits, and what that adds. What is left when the turn has
    /// been long enough, or a function throws, is for another turn.
    template <class Schedule>
    void run(Schedule schedule) {
        take_turn([this] { run_what_waits(); }, std::move(schedule));
    }
    /// The same, beginning with `f`, for a caller that has the right to run functions.
    template <class Function, class Schedule>
    void run(Function f, Schedule schedule) {
        take_turn(
            [this, &f] {
                // What had to wait for want of memory came before.
                run_ready();
                f();
            },
            std::move(schedule)
        );
    }

    /// Nothing that waits will run: its context is being destroyed.
    void abandon() noexcept;

    [[nodiscard]] bool runs_in_this_thread() const noexcept { return running::find(*this); }

private:
    // That of Asio, as for functions that wait on a context.
    template <class T>
    using memory_for = asio::recycling_allocator<T>;

    /// A function in the list of those that wait.
    class node {
    public:
        /// Runs it after its memory was given back: what it posts can have that memory.
        virtual void call() = 0;
        virtual void destroy() noexcept = 0;

        node* next = nullptr;

    protected:
        node() = default;
        node(node const&) = delete;
        node& operator=(node const&) = delete;
        ~node() = default;
    };

    template <class Function>
    class holder final : public node {
    public:
        explicit holder(Function&& f) : f_(std::move(f)) {}
        explicit holder(Function const& f) : f_(f) {}

        void call() override {
            Function f(std::move(f_));
            destroy();
            std::move(f)();
        }
        void destroy() noexcept override {
            memory_for<holder> memory;
            std::destroy_at(this);
            memory.deallocate(this, 1);
        }

    private:
        Function f_;
    };

    /// Stands in the place of a function where there is none.
    class marker final : public node {
    public:
        void call() override {}
        void destroy() noexcept override {}
    };

    class list {
    public:
        [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
        void push(node* one) noexcept {
            (last_ ? last_->next : first_) = one;
            last_ = one;
        }
        node* pop() noexcept {
            auto* const one = std::exchange(first_, first_->next);
            if (!first_) {
                last_ = nullptr;
            }
            one->next = nullptr;
            return one;
        }
        /// Takes over a chain whose first node was added last, behind what is there.
        /// @returns how many they are.
        int append_reversed(node* newest, node const* end) noexcept;
        void remove(node* one) noexcept;

    private:
        node* first_ = nullptr;
        node* last_ = nullptr;
    };

    /// What this thread does with queues, the innermost first: a function may run another strand's,
    /// by running their context.
    template <class Activity>
    class in_this_thread {
    public:
        explicit in_this_thread(strand_queue const& of) noexcept
            : of_{of},
              outer_{std::exchange(innermost_, static_cast<Activity*>(this))} {}
        in_this_thread(in_this_thread const&) = delete;
        in_this_thread& operator=(in_this_thread const&) = delete;
        ~in_this_thread() { innermost_ = outer_; }

        [[nodiscard]] static Activity* find(strand_queue const& what) noexcept {
            auto* one = innermost_;
            while (one && &one->of_ != &what) {
                one = one->outer_;
            }
            return one;
        }

    private:
        inline static constinit thread_local Activity* innermost_ = nullptr;

        strand_queue const& of_;
        Activity* outer_;
    };
    /// Runs the functions of a queue.
    class running : public in_this_thread<running> {
        using in_this_thread::in_this_thread;
    };
    /// Has a turn scheduled. What a context does not take it drops inside: for want of memory, and
    /// then it throws, or because it is being destroyed.
    class scheduling : public in_this_thread<scheduling> {
    public:
        using in_this_thread::in_this_thread;

        bool turn_taken = false;
        bool turn_dropped = false;
    };

    template <class Function>
    static node* make(Function&& f) {
        using made = holder<std::decay_t<Function>>;
        memory_for<made> memory;
        auto* const at = memory.allocate(1);
        try {
            return std::construct_at(at, std::forward<Function>(f));
        } catch (...) {
            memory.deallocate(at, 1);
            throw;
        }
    }

    template <class First, class Schedule>
    void take_turn(First first, Schedule schedule) {
        if (auto* const inside = scheduling::find(*this)) {
            inside->turn_taken = true;
        }
        running const here{*this};
        auto const again = [&]() noexcept {
            scheduling const now{*this};
            try {
                schedule();
            } catch (...) {
                return false;
            }
            if (now.turn_dropped) {
                drop();
            }
            return true;
        };
        try {
            added_ = 0;
            first();
            while (!ready_.empty() || refill()) {
                if (added_ >= most_added_in_a_turn && again()) {
                    return;
                }
                run_ready();
            }
        } catch (...) {
            if ((!ready_.empty() || refill()) && !again()) {
                // Out of memory: they wait for the next one that is added.
                release();
            }
            throw;
        }
    }

    /// False if this is not the thread that runs the functions, or the turn is long enough.
    bool add_to_turn(node* one) noexcept;
    /// True if the caller has to schedule a turn.
    bool push(node* one) noexcept;
    void withdraw(node* one) noexcept;
    /// Takes over what others have added. False if that is nothing: then the turn is over.
    bool refill() noexcept;
    void run_what_waits();
    void run_ready();
    void collect() noexcept;
    void release() noexcept;
    void drop_all() noexcept;
    void drop() noexcept;

    /// What was added last, linked to what was added before. The chain ends with null. `claimed_`
    /// stands for none, while a turn is scheduled or taken; null for none and no turn.
    marker claimed_;
    std::atomic<node*> added_by_others_ = nullptr;
    // Of the turn.
    list ready_;
    int added_ = 0;
};

}  // namespace holdfast::detail

#endif
