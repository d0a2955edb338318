#ifndef HOLDFAST_RUNTIME_RECYCLING_ALLOCATOR_HPP
#define HOLDFAST_RUNTIME_RECYCLING_ALLOCATOR_HPP

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace holdfast::detail {

// A sanitizer sees what is used after it was freed only if the memory has really been freed.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HOLDFAST_DETAIL_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HOLDFAST_DETAIL_SANITIZED
#endif
#endif

/// How many blocks of a type a thread keeps. A test may set it to zero, before there is any block:
/// then every allocation is one of the program's.
inline constinit std::size_t most_recycled_blocks =
#ifdef HOLDFAST_DETAIL_SANITIZED
    0;
#else
    1024;
#endif
#undef HOLDFAST_DETAIL_SANITIZED

/// Memory for objects that come and go with each acquisition. A thread keeps the blocks that it
/// frees, and uses them again for the same type. glibc keeps seven of a size; what goes beyond, as
/// with a thousand coroutines, it merges and splits again, which was a tenth of the client's time.
///
/// Asio's `recycling_allocator` does the same with two blocks, and only in threads that run a
/// context.
///
/// Any thread may free what another one has allocated. `Source` is where memory comes from, and
/// goes to.
template <class T, template <class> class Source = std::allocator>
class recycling_allocator {
public:
    using value_type = T;
    template <class U>
    struct rebind {
        using other = recycling_allocator<U, Source>;
    };

    recycling_allocator() = default;
    template <class U>
    recycling_allocator(recycling_allocator<U, Source> const&) noexcept {}

    [[nodiscard]] T* allocate(std::size_t count) {
        auto& kept = kept_;
        if (count == 1 && kept.first) {
            --kept.count;
            return static_cast<T*>(static_cast<void*>(std::exchange(kept.first, kept.first->next)));
        }
        return Source<T>{}.allocate(count);
    }

    void deallocate(T* memory, std::size_t count) noexcept {
        auto& kept = kept_;
        if (count != 1 || (kept.count >= kept.most && !begin(kept))) {
            Source<T>{}.deallocate(memory, count);
            return;
        }
        kept.first = ::new (static_cast<void*>(memory)) block{kept.first};
        ++kept.count;
    }

    /// How many blocks this thread has now, to be used again.
    [[nodiscard]] static std::size_t kept() noexcept { return kept_.count; }

    template <class U>
    [[nodiscard]] bool operator==(recycling_allocator<U, Source> const&) const noexcept {
        return true;
    }

private:
    struct block {
        block* next;
    };
    // It needs no destructor: a static object may free memory when the thread's objects are gone.
    struct list {
        block* first = nullptr;
        std::size_t count = 0;
        std::size_t most = 0;
        bool begun = false;
    };
    struct at_end_of_thread {
        list& kept;

        ~at_end_of_thread() {
            kept.most = 0;
            while (auto* const spare = std::exchange(kept.first, nullptr)) {
                kept.first = spare->next;
                Source<T>{}.deallocate(static_cast<T*>(static_cast<void*>(spare)), 1);
            }
            kept.count = 0;
        }
    };

    // Whether more can be kept now.
    static bool begin(list& kept) noexcept {
        if (std::exchange(kept.begun, true)) {
            return false;
        }
        thread_local at_end_of_thread const end{kept};
        kept.most = most_recycled_blocks;
        return kept.most > 0;
    }

    inline static constinit thread_local list kept_{};
};

/// `std::make_shared` with recycled memory.
template <class T, class... Arguments>
[[nodiscard]] std::shared_ptr<T> make_recycled(Arguments&&... arguments) {
    return std::allocate_shared<T>(recycling_allocator<T>{}, std::forward<Arguments>(arguments)...);
}

}  // namespace holdfast::detail

#endif
