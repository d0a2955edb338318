#ifndef HOLDFAST_ACQUIRE_JOINT_ATTEMPT_HPP
#define HOLDFAST_ACQUIRE_JOINT_ATTEMPT_HPP

#include "protocol/backend.hpp"
#include "protocol/primitive.hpp"

#include <memory>
#include <vector>

namespace holdfast::detail {

class client_context;

/// The attempts of several acquisitions, as one request: all are granted, or none. Each of them is
/// answered as if it had been sent alone, and is withdrawn by its own acquisition. Used on the
/// client's strand.
class joint_attempt : public std::enable_shared_from_this<joint_attempt> {
public:
    /// What `asked` refers to lives as long as the handler. After the first `withdrawn` nothing is
    /// sent again.
    void add(
        primitive::attempt const& asked,
        std::shared_ptr<bool const> withdrawn,
        exec_handler&& handler
    );
    /// Sends them, if they are so many; else each was refused.
    void send(client_context& client, std::size_t count);

private:
    void on_answer(exec_result const& result);

    std::vector<primitive::attempt> asked_;
    std::vector<exec_handler> handlers_;
    std::shared_ptr<bool const> withdrawn_;
};

}  // namespace holdfast::detail

#endif
