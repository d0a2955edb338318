#include <holdfast/owner.hpp>

#include "runtime/runtime.hpp"

namespace holdfast {

owner owner::make() {
    return owner{{detail::random_from_system(), detail::random_from_system()}};
}

}  // namespace holdfast
