# One static library ingot_LAYER per folder of src/, linked with the layers below it only, so that an upward
# call does not link. ingot_all is all of them. A layer without sources is left out.
#
# Ranks, lowest first; layers of one rank do not know each other. scripts/check/layers.py reads this list.
set(ingot_ranks
    "base"
    "record codec media series db net"
    "store model metric"
    "sched exec infer"
    "core"
    "api"
    "cli")

# The folders of src/core/ in the same way. Files of core itself stand beside these: the generic verbs below all of them,
# what lists or wires them (kinds.c, controllers.c, task_types.c ...) above.
set(ingot_core_ranks
    "series"
    "account compute"
    "task"
    "data folder"
    "label"
    "image"
    "job"
    "build"
    "runtime"
    "environment"
    "evaluate"
    "training"
    "serve"
    "lineage"
    "backup demo home platform")

# Under TSan only what the tests of the threaded layers need is built by default, for fuzzing what its targets link.
set(exclude "")
if(INGOT_MODE MATCHES "tsan|fuzz")
    set(exclude EXCLUDE_FROM_ALL)
endif()

add_library(ingot_all INTERFACE)
set(below "")
foreach(rank IN LISTS ingot_ranks)
    string(REPLACE " " ";" layers "${rank}")
    set(built "")
    foreach(layer IN LISTS layers)
        file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${layer}/*.c
            ${CMAKE_SOURCE_DIR}/src/${layer}/*/*.c)
        list(FILTER sources EXCLUDE REGEX "/src/(media/worker|exec/shim|infer/program)/") # programs of their own: media.cmake, shim.cmake, infer.cmake
        if(NOT sources)
            continue()
        endif()
        add_library(ingot_${layer} STATIC ${exclude} ${sources})
        target_link_libraries(ingot_${layer} PRIVATE ingot_flags PUBLIC ${below} Threads::Threads m)
        foreach(use IN LISTS uses_${layer})
            if(TARGET ${use})
                target_link_libraries(ingot_${layer} PUBLIC ${use})
            elseif(TARGET PkgConfig::${use})
                target_link_libraries(ingot_${layer} PUBLIC PkgConfig::${use})
            else()
                message(FATAL_ERROR "layer ${layer} needs ${use}: run scripts/setup.sh build")
            endif()
        endforeach()
        list(APPEND built ingot_${layer})
    endforeach()
    list(PREPEND below ${built})
endforeach()
target_link_libraries(ingot_all INTERFACE ingot_flags ${below})
