#include <holdfast/owner.hpp>

#include "ops/runtime.hpp"

namespace holdfast {

owner owner::make() {
    return owner{{detail::random_from_system(), detail::random_from_system()}};
}

}  // namespace holdfast
