# Writes a text file as a C++ constant: cmake -DIN=page.html -DOUT=page.cpp -P embed.cmake
file(READ ${IN} text)
string(LENGTH "${text}" length)
set(pieces "")
foreach(from RANGE 0 ${length} 8000)  # compilers have a limit for one literal
  string(SUBSTRING "${text}" ${from} 8000 piece)
  string(APPEND pieces "R\"posy(${piece})posy\"\n")
endforeach()
file(WRITE ${OUT} "#include \"node/page.hpp\"\n\nnamespace posy::node {\nconst std::string_view page_html =\n${pieces};\n}  // namespace posy::node\n")
