"""posy simulate from outside: the list, one system, its tables, data and pictures.

Usage: simulate_test.py POSY [unittest arguments]
"""
from harness import ToolTest, main


class Simulate(ToolTest):
    def test_the_list(self):
        listed = self.posy("simulate", "--list").decode()
        self.assertEqual(self.posy("simulate").decode(), listed)
        names = [line.split()[0] for line in listed.splitlines()]
        self.assertEqual(len(set(names)), len(names))

    def test_wrong_use(self):
        self.fails("simulate", "shrubbery", saying="there is no system 'shrubbery'")
        self.fails("simulate", "tree", "--loss", "2", saying="--loss")
        self.fails("simulate", "tree", "--nodes", "many", saying="--nodes")


if __name__ == "__main__":
    main()
