# Runs the tests of a program that has a bug: the one test that is there for it fails, and no other.
# Wants -DTESTS=program -DFINDS=name.
execute_process(
    COMMAND "${TESTS}" --report_level=detailed --color_output=no
    RESULT_VARIABLE result
    OUTPUT_VARIABLE out
    ERROR_VARIABLE out
    TIMEOUT 100
)
string(REGEX MATCHALL "Test case \"[^\"]*\" has failed" failed "${out}")
if(NOT result EQUAL 201 OR NOT failed STREQUAL "Test case \"${FINDS}\" has failed")
    message(FATAL_ERROR "the tests ended with ${result}; these have failed: ${failed}\n${out}")
endif()
