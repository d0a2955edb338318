# Gives the functions of Boost.Redis that are compiled into a static library names of its own, so
# that a program may link to others that have `boost/redis/src.hpp` in them too, in any order.
# Wants -DARCHIVE=... -DNM=... -DOBJCOPY=...
#
# Inline functions and templates keep their names: a program has one of each, as everywhere.
execute_process(
    COMMAND "${NM}" --extern-only --defined-only --format=posix "${ARCHIVE}"
    OUTPUT_VARIABLE symbols
    RESULT_VARIABLE result
)
string(REGEX MATCHALL "\n_ZNK?5boost5redis[^ \n]* [TDRBS] " strong "\n${symbols}")
if(NOT result EQUAL 0 OR NOT strong)
    message(FATAL_ERROR "${ARCHIVE} shows no function of Boost.Redis")
endif()

string(REGEX REPLACE "\n([^ ]+) . " "\\1 \\1.holdfast\n" names "${strong}")
string(REPLACE ";" "" names "${names}")
file(WRITE "${ARCHIVE}.names" "${names}")
execute_process(
    COMMAND "${OBJCOPY}" "--redefine-syms=${ARCHIVE}.names" "${ARCHIVE}" COMMAND_ERROR_IS_FATAL ANY
)
