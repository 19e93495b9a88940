# Compiler flags of all our targets, by INGOT_MODE.
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

find_program(CCACHE ccache)
if(CCACHE)
    set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
endif()

if(INGOT_MODE STREQUAL release)
    set(mode_flags -O2)
    add_compile_definitions(_FORTIFY_SOURCE=2)
elseif(INGOT_MODE STREQUAL san)
    set(mode_flags -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all)
elseif(INGOT_MODE STREQUAL tsan)
    set(mode_flags -O1 -fno-omit-frame-pointer -fsanitize=thread)
elseif(INGOT_MODE STREQUAL fuzz)
    set(mode_flags -O1 -fno-omit-frame-pointer -fsanitize=address,undefined,fuzzer-no-link
        -fno-sanitize-recover=all)
else()
    message(FATAL_ERROR "INGOT_MODE is '${INGOT_MODE}'; it must be release, san, tsan or fuzz")
endif()
add_compile_options(-g ${mode_flags})
add_link_options(${mode_flags} -Wl,--as-needed)

# For our own code; third-party sources are built without it.
add_library(ingot_flags INTERFACE)
target_compile_options(ingot_flags INTERFACE $<$<COMPILE_LANGUAGE:C>:-Wall -Wextra -Werror -fno-common>)
if(NOT INGOT_MODE STREQUAL release)
    # gcc sees paths that the sanitizers' own code adds; the release build has the warning.
    target_compile_options(ingot_flags INTERFACE $<$<C_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()
target_compile_definitions(ingot_flags INTERFACE _GNU_SOURCE INGOT_VERSION="${PROJECT_VERSION}")
target_include_directories(ingot_flags INTERFACE ${CMAKE_SOURCE_DIR}/src)
