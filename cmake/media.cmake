# ingot-media, the program that decodes pictures, sound and video (src/media/worker), and its bytes as a library
# that src/media/media.c starts it from.
file(GLOB media_worker CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/media/worker/*.c)
if(media_worker)
    add_executable(ingot-media ${exclude} ${media_worker} ${CMAKE_SOURCE_DIR}/src/media/wire.c)
    target_link_libraries(ingot-media PRIVATE ingot_flags ingot_base m)
    foreach(use IN ITEMS vips avformat avcodec avutil swscale)
        target_link_libraries(ingot-media PRIVATE PkgConfig::${use})
    endforeach()
    set(program ${CMAKE_BINARY_DIR}/media_program.S)
    file(CONFIGURE OUTPUT ${program} CONTENT [[
.section .note.GNU-stack, "", %progbits
.section .rodata
.global media_program
.global media_program_size
.balign 64
media_program:
.incbin "@CMAKE_BINARY_DIR@/ingot-media"
end:
.balign 8
media_program_size:
.quad end - media_program
]] @ONLY)
    set_source_files_properties(${program} PROPERTIES OBJECT_DEPENDS ${CMAKE_BINARY_DIR}/ingot-media)
    add_library(ingot_media_program STATIC ${exclude} ${program})
    add_dependencies(ingot_media_program ingot-media)
    target_link_libraries(ingot_media PUBLIC ingot_media_program)
endif()
