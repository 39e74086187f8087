"""Mutants: one small change to the code each, which a test should notice.

    nox -s mutants [-- --packages domain trading --sample 400 --seed 1]

First the tests of these packages run once, and it is recorded which of them run which lines. Then, for each
mutant of a sample, the tests run that are nearest to the changed line; a mutant that none of them notices is
printed. It is either no change in what the code does, or a test that is missing.
"""
