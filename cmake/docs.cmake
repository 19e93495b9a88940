# The page /docs (src/api/describe/docs.html) as an array in the library ingot_api; see src/api/describe/docs.c.
if(TARGET ingot_api)
    set(page ${CMAKE_SOURCE_DIR}/src/api/describe/docs.html)
    file(READ ${page} hex HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/docs_page.c CONTENT
        "#include <stddef.h>\nconst unsigned char docs_page[] = {@bytes@};\nconst size_t docs_page_size = sizeof docs_page;\n"
        @ONLY)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page})
    target_sources(ingot_api PRIVATE ${CMAKE_BINARY_DIR}/docs_page.c)
endif()
