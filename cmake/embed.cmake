# Writes a text file as a C++ constant: cmake -DIN=page.html -DOUT=page.cpp -DHEADER=page.hpp -DCONSTANT=posy::node::page_html
# -P embed.cmake, where the header declares the constant, an extern const std::string_view.
file(READ ${IN} text)
string(LENGTH "${text}" length)
set(pieces "")
foreach(from RANGE 0 ${length} 8000)  # compilers have a limit for one literal
  string(SUBSTRING "${text}" ${from} 8000 piece)
  string(APPEND pieces "R\"posy(${piece})posy\"\n")
endforeach()
file(WRITE ${OUT} "#include \"${HEADER}\"\n\nconst std::string_view ${CONSTANT} =\n${pieces};\n")
