# Libraries that the server loads when it first uses them: most servers have no PostgreSQL, no MariaDB to import from and
# no bucket, and idle. In the release on x86-64; elsewhere, and for sanitizers, they are linked as usual.
#
# layers.cmake takes a target of a library's short name before pkg-config's.
if(INGOT_MODE STREQUAL release AND CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
    foreach(use pq mariadb curl archive)
        list(GET ${use}_LINK_LIBRARIES 0 file)
        set(stub ${CMAKE_BINARY_DIR}/lazy/${use}.S)
        add_custom_command(OUTPUT ${stub}
            COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/lazy
            COMMAND /usr/bin/python3 ${CMAKE_SOURCE_DIR}/scripts/lazy.py ${file} ${stub}
            DEPENDS ${CMAKE_SOURCE_DIR}/scripts/lazy.py ${file}
            VERBATIM)
        add_library(${use} STATIC ${stub})
        target_include_directories(${use} SYSTEM PUBLIC ${${use}_INCLUDE_DIRS})
        target_link_libraries(${use} PUBLIC ingot_base)
    endforeach()
endif()
