from posy._core.theory import *
