"""Scripts that mean harm: each stops at a limit, within its time, and nothing but our own errors comes out."""

import pytest

from plait.scripts.ale import AleError, AleLimitError, Limits, Script
from plait.scripts.ale.limits import MAX_TEXT

PATIENT = Limits(seconds=50)
"""The steps are what should end a script here, also on a slow machine."""
TIGHT = Limits(steps=300_000, seconds=50, memory=64 * 1024 * 1024)

DOUBLED = "(define (double v n) (if (= n 0) v (double [v v] (dec n)))) "
NESTED = "(define (nest v n) (if (= n 0) v (nest [v] (dec n)))) "
LONG = '(define (long s) (if (> (length s) 400000) s (long (str s s)))) (define s (long "abcdefgh")) '

BOMBS = {
    "endless loop": "(define (f) (f)) (f)",
    "endless loop of two": "(let-rec ([a (thunk (b))] [b (thunk (a))]) (a))",
    "endless recursion": "(define (f n) (+ 1 (f n))) (f 1)",
    "endless recursion through a core function": "(define (f x) (map! f [x])) (f 1)",
    "endless recursion through a fold": "(define (f a b) (reduce f [a b])) (f 1 2)",
    "endless recursion through handlers": "(define (f) (try (f) (catch [e string?] (f)))) (f)",
    "endless recursion through finally": "(define (f) (try (f) (finally (f)))) (f)",
    "growing integer": "(define (f n) (f (* n n))) (f 3)",
    "growing ratio": "(define (f n) (f (* n n))) (f 2/3)",
    "slowly growing ratio": "(define (f n k) (f (+ n (/ 1 k)) (inc k))) (f 0 1)",
    "growing string": '(define (f s) (f (str s s))) (f "ab")',
    "growing string by append": '(define (f s) (f (append s s))) (f "ab")',
    "growing message": '(define (f s) (try (raise s s) (catch [e string?] (f e)))) (f "ab")',
    "many long strings": f'{LONG} (define (f acc) (f (cons (append s "x") acc))) (f null)',
    "many slices": f"{LONG} (define (f acc) (f (cons (s 1) acc))) (f null)",
    "growing vector": "(define (f v) (f (append v 1))) (f [])",
    "growing list": "(define (f l) (f (cons 1 l))) (f null)",
    "growing object": "(define (f o n) (f (assoc o [n n]) (inc n))) (f {} 0)",
    "growing set of vectors": "(define (f o n) (f (conj o [n]) (inc n))) (f #{} 0)",
    "many copies of a vector": "(define v (seq->vector (range 9000))) (define (f l) (f (cons (cons 1 v) l))) (f null)",
    "many procedures": "(define (f l) (f (cons (lambda () 1) l))) (f null)",
    "huge range": "(seq->vector (range 100000000))",
    "endless range": "(length! (range))",
    "endless range that is kept": "(define r (range)) (nth! r 100000000)",
    "endless range as a result": "(range)",
    "endless range as text": "(str (range))",
    "endless range as arguments": "(apply + (range))",
    "endless filter": "(first (filter (lambda (x) #f) (range)))",
    "endless zip": "(length! (zip (range) (range)))",
    "endless partition": "(first (partition 100000000 (range)))",
    "huge product": "(length! (cartesian-product (range 1000) (range 1000) (range 1000)))",
    "lazy sequence of itself": "(let-rec ([s (map (lambda (x) (first s)) [1])]) (first s))",
    "lazy sequence over many": "(define (f s n) (if (= n 0) s (f (map inc s) (dec n)))) (first (f (range) 30000))",
    "concat of concat": "(first (reduce concat null (map list (range 15000))))",
    "composition of 30,000 functions": "(define (f g n) (if (= n 0) g (f (comp g inc) (dec n)))) ((f inc 30000) 1)",
    "function that calls itself twice": "(define (d f n) (if (= n 0) f (d (juxt f f) (dec n)))) ((d inc 60) 1)",
    "shared parts as text": f"{DOUBLED} (str (double [] 100))",
    "shared parts as a result": f"{DOUBLED} (double [] 60)",
    "shared parts compared": f"{DOUBLED} (eq (double [] 100) (double [] 100))",
    "shared parts as a key": f"{DOUBLED} {{(double [] 100) 1}}",
    "deep keys": "(define (f v n) (if (= n 0) v (f {v 1} (dec n)))) (f {} 20000)",
    "a million arguments": "(define v (seq->vector (range 900000))) (define (f) (apply list v) (f)) (f)",
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_stops_at_a_limit(name: str):
    with pytest.raises(AleLimitError) as caught:
        Script(BOMBS[name], limits=TIGHT).call()
    assert caught.value.code != "ale.time_limit"


def test_the_default_limits_are_those_of_the_language():
    assert Limits() == Limits(
        steps=10_000_000, seconds=5.0, depth=10_000, elements=1_000_000, memory=512 * 2**20, result=2**20
    )


@pytest.mark.costly
def test_an_endless_loop_ends_at_the_default_limits():
    with pytest.raises(AleLimitError, match=r"step limit exceeded|time limit exceeded"):
        Script("(define (f n) (f (inc n))) (f 0)").call()


@pytest.mark.costly
def test_a_million_tail_calls_need_no_stack():
    loop = "(define (loop n) (if (= n 0) :done (loop (dec n)))) (loop 1000000)"
    assert Script(loop, limits=Limits(seconds=50, depth=3)).call() == "done"


@pytest.mark.costly
def test_a_million_mutual_tail_calls_need_no_stack():
    text = """
    (let-rec ([even (lambda (n) (cond [(= n 0) #t] [:else (odd (dec n))]))]
              [odd  (lambda (n) (and #t (or #f (when #t (let [m (dec n)] (if (= n 0) #f (even m)))))))])
      (even 1000000))"""
    assert Script(text, limits=Limits(steps=30_000_000, seconds=50, depth=3)).call() is True


def test_a_hundred_thousand_tail_calls_through_apply_need_no_stack():
    text = "(define (f n) (if (= n 0) :done (apply f [(dec n)]))) (f 100000)"
    assert Script(text, limits=Limits(seconds=50, depth=5)).call() == "done"


def test_recursion_that_is_no_tail_call_may_be_ten_thousand_deep_but_not_deeper():
    text = "(define (sum n) (if (= n 0) 0 (+ n (sum (dec n))))) (sum depth)"
    assert Script(text, ["depth"], PATIENT).call({"depth": 9_990}) == 9_990 * 9_991 // 2
    with pytest.raises(AleLimitError, match="recursion too deep"):
        Script(text, ["depth"], PATIENT).call({"depth": 10_001})


@pytest.mark.costly
def test_deep_data_can_be_built_compared_printed_and_dropped():
    assert Script(f"{NESTED} (eq (nest [] 50000) (nest [] 50000))", limits=PATIENT).call() is True
    assert Script(f"{NESTED} (length (str (nest [] 50000)))", limits=PATIENT).call() == 100_002


def test_deep_data_is_no_result():
    with pytest.raises(AleError, match="cannot convert vector to JSON: it is nested too deeply"):
        Script(f"{NESTED} (nest [] 50000)", limits=PATIENT).call()


def test_an_object_of_thousands_of_keys_can_be_built_key_by_key():
    text = "(length (reduce (lambda (o n) (assoc o [n n])) {} (range 8000)))"
    assert Script(text, limits=PATIENT).call() == 8000


def test_a_vector_of_many_elements_can_be_built_one_by_one_and_taken_apart():
    text = """
    (define (total v sum) (if (empty? v) sum (total (rest v) (+ sum (first v)))))
    (total (reduce conj [] (range 30000)) 0)"""
    assert Script(text, limits=PATIENT).call() == sum(range(30_000))


@pytest.mark.parametrize(
    "text",
    [
        "(length (seq->vector (range n)))",
        "(length (seq->list (range n)))",
        "(length (apply list (range n)))",
        "(length (reduce conj [] (range n)))",
        "(length (reduce conj null (range n)))",
        "(length (reduce conj #{} (range n)))",
        "(length (reduce (lambda (o k) (assoc o [k k])) {} (range n)))",
        "(length (map! inc (range n)))",
        '(length (reduce append "" (map (constantly "x") (range n))))',
        '(length (apply str (map (constantly "x") (range n))))',
        "(length (first (partition (+ n 1) (range n))))",
    ],
)
def test_collections_may_have_so_many_elements_but_not_one_more(text: str):
    script = Script(text, ["n"], Limits(elements=500, seconds=50))
    assert script.call({"n": 500}) == 500
    with pytest.raises(AleLimitError, match="value too large"):
        script.call({"n": 501})


def test_integers_may_have_4096_bits_but_not_one_more():
    assert Script("(+ a (- a 1))", ["a"]).holds({"a": 2**4095})
    for text in ["(* a 2)", "(+ a a)", "(- (- 0 a) a)", "(/ 1 (* a 2))", "(+ (/ 1 a) (/ 1 (- a 1)))"]:
        with pytest.raises(AleLimitError, match="number too large"):
            Script(text, ["a"]).call({"a": 2**4095})


def test_texts_may_have_64_kib():
    assert Script("1" + " " * (MAX_TEXT - 1)).call() == 1
    with pytest.raises(AleError, match="script too large"):
        Script("é" * (MAX_TEXT // 2) + " ")


@pytest.mark.parametrize(
    ("opening", "inner", "closing"),
    [
        ("(+ 1 ", "1", ")"),
        ("[", "1", "]"),
        ("{1 ", "1", "}"),
        ("(let [a 1] ", "a", ")"),
        ("(if #t ", "1", ")"),
        ("(and 1 ", "1", ")"),
        ("(begin ", "1", ")"),
        ("(try 1 ", "1", ")"),
        ("(lambda () ", "1", ")"),
        ("'", "1", ""),
    ],
)
def test_texts_may_nest_500_levels(opening: str, inner: str, closing: str):
    assert Script(opening * 499 + inner + closing * 499).holds()
    with pytest.raises(AleError, match="nested deeper than 500 levels"):
        Script(opening * 501 + inner + closing * 501)


@pytest.mark.costly
@pytest.mark.parametrize(
    "text",
    [
        "(-> 0 " + "inc " * 10_000 + ")",
        "(some-> 0 " + "inc " * 10_000 + ")",
        "(cond " + "[#f 1] " * 8_000 + "[#t 10000])",
        "(or " + "#f " * 10_000 + "10000)",
        "(let* (" + "[a 10000]" * 6_000 + ") a)",
        "(last [" + "1 " * 20_000 + "10000])",
        "(try " * 240 + "10000" + " (finally (try 1 (finally 2))))" * 240,
    ],
    ids=lambda text: text[:12],
)
def test_long_texts_compile_and_run(text: str):
    assert Script(text, limits=PATIENT).call() == 10_000
