# ingot-infer, the program that serves models (src/infer), with ONNX Runtime in the folder lib beside it, which it loads
# when it starts. In the release its other libraries are linked into it where Debian has them as archives: it runs in
# images that have little but a C library, and a folder of few files makes it run anywhere.
file(GLOB infer_program CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/infer/program/*.c)
if(infer_program AND TARGET ingot_infer)
    add_executable(ingot-infer ${exclude} ${infer_program})
    set(infer_static libuv_a.a libnghttp2.a libssl.a libcrypto.a libzstd.a libjpeg.a libpng16.a
        libwebp.a libFLAC.a libogg.a libz.a)
    set(infer_archives "")
    foreach(name IN LISTS infer_static)
        find_library(infer_${name} NAMES ${name})
        if(infer_${name})
            list(APPEND infer_archives ${infer_${name}})
        endif()
    endforeach()
    list(LENGTH infer_static wanted)
    list(LENGTH infer_archives found)
    if(INGOT_MODE STREQUAL release AND wanted EQUAL found)
        # By their files, so that the shared libraries that layers name for `ingot` do not come along.
        set(parts ingot_infer ingot_model ingot_codec ingot_net ingot_base yyjson llhttp)
        list(TRANSFORM parts REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE files)
        add_dependencies(ingot-infer ${parts})
        target_link_libraries(ingot-infer PRIVATE ingot_flags onnxruntime -Wl,--start-group ${files} ${infer_archives}
            -Wl,--end-group Threads::Threads m)
        target_link_options(ingot-infer PRIVATE -Wl,--gc-sections)
        target_include_directories(ingot-infer PRIVATE
            $<TARGET_PROPERTY:yyjson,INTERFACE_INCLUDE_DIRECTORIES>)
    else()
        target_link_libraries(ingot-infer PRIVATE ingot_flags ingot_infer)
    endif()
    get_target_property(runtime onnxruntime FILE)
    get_filename_component(runtime_name ${runtime} NAME)
    add_custom_command(TARGET ingot-infer POST_BUILD
        COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/lib
        COMMAND ${CMAKE_COMMAND} -E copy_if_different ${runtime} ${CMAKE_BINARY_DIR}/lib/${runtime_name}
        VERBATIM)
endif()

# What the WordPiece tokenizer knows of Unicode; the loops of resize.c are written for vectors, which -O2 makes few of.
if(TARGET ingot_infer)
    set(unicode_table ${CMAKE_BINARY_DIR}/infer_fold.c)
    add_custom_command(OUTPUT ${unicode_table}
        COMMAND /usr/bin/python3 ${CMAKE_SOURCE_DIR}/scripts/unicode.py ${unicode_table}
        DEPENDS ${CMAKE_SOURCE_DIR}/scripts/unicode.py
        VERBATIM)
    target_sources(ingot_infer PRIVATE ${unicode_table})
    if(INGOT_MODE STREQUAL release)
        set_source_files_properties(${CMAKE_SOURCE_DIR}/src/infer/resize.c PROPERTIES COMPILE_OPTIONS -O3)
    endif()
endif()
