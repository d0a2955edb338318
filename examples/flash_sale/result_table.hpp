#ifndef FLASH_SALE_RESULT_TABLE_HPP
#define FLASH_SALE_RESULT_TABLE_HPP

#include "sale.hpp"

#include <string>

namespace flash_sale {

void print_table(sale_result const& without, sale_result const& with);

/// What is not as it must be; empty if all is well.
[[nodiscard]] std::string find_fault(sale_result const& without, sale_result const& with);

}  // namespace flash_sale

#endif
