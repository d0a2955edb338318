#include "runtime/strand_identity.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>

#include <cstring>
#include <memory>

namespace holdfast::detail {

namespace {

// Asio compares strands, and has no hash of them. The last member of a strand points to what its
// copies share. With another layout equal strands might look different, and no more would be found
// for them.
template <class Inner>
void const* identity_of(asio::any_io_executor const& executor) noexcept {
    using strand = asio::strand<Inner>;
    static_assert(sizeof(strand) >= sizeof(std::shared_ptr<void>));
    auto const* const found = executor.target<strand>();
    if (!found) {
        return nullptr;
    }
    auto const* const end = reinterpret_cast<unsigned char const*>(found + 1);
    void const* shared = nullptr;
    std::memcpy(static_cast<void*>(&shared), end - sizeof(std::shared_ptr<void>), sizeof shared);
    return shared;
}

}  // namespace

void const* strand_identity(asio::any_io_executor const& executor) noexcept {
    if (auto const* const io = identity_of<asio::io_context::executor_type>(executor)) {
        return io;
    }
    if (auto const* const any = identity_of<asio::any_io_executor>(executor)) {
        return any;
    }
    return identity_of<asio::thread_pool::executor_type>(executor);
}

}  // namespace holdfast::detail
