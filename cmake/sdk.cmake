# The Python client as one archive that Python imports from, for containers (src/core/job/programs.h). Its bytes are a
# library.
file(GLOB_RECURSE sdk_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/python/ingot/*.py)
set(sdk_archive ${CMAKE_BINARY_DIR}/sdk.zip)
add_custom_command(
    OUTPUT ${sdk_archive}
    COMMAND /usr/bin/python3 ${CMAKE_SOURCE_DIR}/scripts/sdk_archive.py ${CMAKE_SOURCE_DIR}/python ${sdk_archive}
    DEPENDS ${CMAKE_SOURCE_DIR}/scripts/sdk_archive.py ${sdk_files}
    COMMENT "Packing the Python client"
    VERBATIM)
add_custom_target(ingot_sdk_zip DEPENDS ${sdk_archive})
set(sdk_source ${CMAKE_BINARY_DIR}/sdk_archive.S)
file(CONFIGURE OUTPUT ${sdk_source} CONTENT [[
.section .note.GNU-stack, "", %progbits
.section .rodata
.global sdk_archive
.global sdk_archive_end
.balign 64
sdk_archive:
.incbin "@CMAKE_BINARY_DIR@/sdk.zip"
sdk_archive_end:
.byte 0
]] @ONLY)
set_source_files_properties(${sdk_source} PROPERTIES OBJECT_DEPENDS ${sdk_archive})
add_library(ingot_sdk STATIC ${exclude} ${sdk_source})
add_dependencies(ingot_sdk ingot_sdk_zip)
if(TARGET ingot_core)
    target_link_libraries(ingot_core PUBLIC ingot_sdk)
endif()
