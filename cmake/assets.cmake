# Puts every file of web/dist (when it was built) into the library ingot_assets; see src/api/web/assets.h.
file(GLOB_RECURSE web_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/web/dist/*)
set(assets_dir ${CMAKE_BINARY_DIR}/assets)
add_custom_command(
    OUTPUT ${assets_dir}/web_assets.c ${assets_dir}/web_assets.S
    COMMAND /usr/bin/python3 ${CMAKE_SOURCE_DIR}/scripts/embed.py ${CMAKE_SOURCE_DIR}/web/dist ${assets_dir}
        ${CMAKE_SOURCE_DIR}/.cache/assets
    DEPENDS ${CMAKE_SOURCE_DIR}/scripts/embed.py ${web_files}
    COMMENT "Embedding web/dist"
    VERBATIM)
add_library(ingot_assets STATIC ${exclude} ${assets_dir}/web_assets.c ${assets_dir}/web_assets.S)
target_link_libraries(ingot_assets PRIVATE ingot_flags)
target_link_libraries(ingot_all INTERFACE ingot_assets)
if(TARGET ingot_api)
    target_link_libraries(ingot_api PUBLIC ingot_assets)
endif()
