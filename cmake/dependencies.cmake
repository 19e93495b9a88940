# The libraries each layer may use, and those that scripts/thirdparty.sh fetched.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)

foreach(module libuv libnghttp2 openssl sqlite3 libpq libmariadb libcurl libarchive vips libavformat libavcodec
        libavutil libswscale sndfile libargon2 zlib libzstd libcrypt cmocka libjpeg libpng libwebp flac)
    string(REGEX REPLACE "^lib" "" short ${module})
    pkg_check_modules(${short} QUIET IMPORTED_TARGET ${module})
endforeach()

function(third_party name version)
    set(dir ${CMAKE_SOURCE_DIR}/.cache/thirdparty/${name}-${version})
    if(NOT EXISTS ${dir}/complete)
        message(FATAL_ERROR "${name} ${version} is missing: run scripts/thirdparty.sh")
    endif()
    list(TRANSFORM ARGN PREPEND ${dir}/)
    add_library(${name} STATIC ${ARGN})
    target_include_directories(${name} SYSTEM PUBLIC ${dir})
    # Without it UBSan would end the program for what others' code does.
    target_compile_options(${name} PRIVATE -w -fno-sanitize=undefined)
endfunction()

third_party(llhttp 9.3.0 llhttp.c api.c http.c)
third_party(yyjson 0.10.0 yyjson.c)

# Only its header: the library is loaded by src/infer/ort.c.
set(onnxruntime_version 1.31.1)
set(onnxruntime_dir ${CMAKE_SOURCE_DIR}/.cache/thirdparty/onnxruntime-${onnxruntime_version})
if(NOT EXISTS ${onnxruntime_dir}/complete)
    message(FATAL_ERROR "onnxruntime ${onnxruntime_version} is missing: run scripts/thirdparty.sh")
endif()
add_library(onnxruntime INTERFACE)
target_include_directories(onnxruntime SYSTEM INTERFACE ${onnxruntime_dir})
target_compile_definitions(onnxruntime INTERFACE ORT_LIBRARY="libonnxruntime.so.${onnxruntime_version}")
set_target_properties(onnxruntime PROPERTIES FILE ${onnxruntime_dir}/libonnxruntime.so.${onnxruntime_version})

set(uses_base yyjson uv openssl zlib zstd)
set(uses_record zstd zlib)
set(uses_db sqlite3 pq)
set(uses_net llhttp nghttp2 uv openssl curl)
set(uses_store curl archive)
list(APPEND uses_infer onnxruntime zlib uv jpeg png webp flac)
set(uses_core argon2 curl archive crypt mariadb)
set(uses_api archive zlib)
set(uses_cli curl archive)
