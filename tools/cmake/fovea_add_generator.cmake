# fovea_add_generator(NAME my_fovea
#     MODELS my_model.cpp:my_model …)   files and functions
#
# The program `my_fovea`: the command fovea with these models in the place of the built-in ones, as
# `my_fovea verify --all`, `my_fovea show my_model`. They are compiled when the project is built, and
# not at each call. It runs where it was built.
cmake_policy(PUSH)
cmake_policy(VERSION 3.22)  # whatever the project asks for

function(fovea_add_generator)
    cmake_parse_arguments(PARSE_ARGV 0 ARG "" "NAME" "MODELS")
    foreach(argument IN LISTS ARG_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "fovea_add_generator: unknown argument '${argument}': it takes NAME, MODELS")
    endforeach()
    foreach(argument NAME MODELS)
        if(NOT ARG_${argument})
            message(FATAL_ERROR "fovea_add_generator: ${argument} is missing")
        endif()
    endforeach()
    if(TARGET ${ARG_NAME})
        message(FATAL_ERROR "fovea_add_generator: there is a target '${ARG_NAME}' already: "
            "choose another NAME")
    endif()

    # A library for each model: two files may have other things of one name.
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/fovea/${ARG_NAME})
    set(libraries)
    set(targets)
    foreach(model IN LISTS ARG_MODELS)
        if(NOT model MATCHES "^(.+):([A-Za-z_][A-Za-z0-9_]*(::[A-Za-z0-9_]+)*)$")
            message(FATAL_ERROR "fovea_add_generator: MODELS takes FILE.cpp:FUNCTION, not '${model}'")
        endif()
        set(file ${CMAKE_MATCH_1})
        set(function ${CMAKE_MATCH_2})
        get_filename_component(path ${file} ABSOLUTE)
        if(NOT EXISTS ${path})
            message(FATAL_ERROR "fovea_add_generator: there is no file '${file}'")
        endif()
        string(REGEX REPLACE ".*:" "" name ${function})
        set(target ${ARG_NAME}_${name})
        if(TARGET ${target})
            message(FATAL_ERROR "fovea_add_generator: two models have the name '${name}'")
        endif()
        file(CONFIGURE OUTPUT ${folder}/${name}.cpp CONTENT [[
#include "@path@"
#include "dsl/model_function.h"
extern "C" void fovea_entry(fovea::ModelEntry* entry) {
    *entry = fovea::entry_of<fovea::model_function(&::@function@)>("@name@", "@file@");
}
]] @ONLY)
        add_library(${target} MODULE ${folder}/${name}.cpp)
        target_link_libraries(${target} PRIVATE fovea::dsl)
        target_compile_options(${target} PRIVATE -O0)  # a graph is made once
        # Older than the command it would be refused.
        set_target_properties(${target} PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${folder}
            CXX_EXTENSIONS OFF CXX_VISIBILITY_PRESET default
            LINK_DEPENDS $<TARGET_FILE:fovea::fovea>)
        list(APPEND libraries $<TARGET_FILE:${target}>)
        list(APPEND targets ${target})
    endforeach()

    file(CONFIGURE OUTPUT ${folder}/main.cpp CONTENT [[
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

int main(int, char** argv) {
    setenv("FOVEA_MODELS", FOVEA_MODELS, 1);
    execv(FOVEA_COMMAND, argv);
    std::perror(FOVEA_COMMAND);
    return 3;
}
]] @ONLY)
    list(JOIN libraries ":" libraries)
    add_executable(${ARG_NAME} ${folder}/main.cpp)
    target_compile_definitions(${ARG_NAME} PRIVATE FOVEA_MODELS="${libraries}"
        FOVEA_COMMAND="$<TARGET_FILE:fovea::fovea>")
    add_dependencies(${ARG_NAME} ${targets} fovea::fovea)
endfunction()
cmake_policy(POP)
