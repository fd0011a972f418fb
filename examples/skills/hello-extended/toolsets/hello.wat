;; A toolset as a WebAssembly component, written by hand to show all there is. A compiler makes this from
;; `crates/skillfold-run/wit/toolset.wit` and some lines of Rust; docs/toolsets.md says how.
;;
;; `hello.wasm` is made from this file: wasm-tools parse hello.wat -o hello.wasm
(component
  (import "skillfold:toolset/logging@0.1.0" (instance $logging
    (export "log" (func (param "message" string)))))

  ;; The memory, and the function that the host asks for room in it. Room is taken from `$next` on, and given back after
  ;; each call.
  (core module $memory
    (memory (export "memory") 1)
    (global $next (mut i32) (i32.const 4096))
    (func (export "realloc") (param $old i32) (param $old_size i32) (param $align i32) (param $size i32) (result i32)
      (local $start i32) (local $end i32)
      (local.set $start (i32.and (i32.add (global.get $next) (i32.const 7)) (i32.const -8)))
      (local.set $end (i32.add (local.get $start) (local.get $size)))
      (if (i32.lt_u (local.get $end) (local.get $start)) (then unreachable))
      (block $enough
        (br_if $enough (i32.le_u (local.get $end) (i32.mul (memory.size) (i32.const 65536))))
        (br_if $enough (i32.ne (i32.const -1)
          (memory.grow (i32.add (i32.const 1) (i32.shr_u (local.get $size) (i32.const 16))))))
        unreachable)
      (memory.copy (local.get $start) (local.get $old) (local.get $old_size))
      (global.set $next (local.get $end))
      (local.get $start))
    (func (export "free-all") (param i32)
      (global.set $next (i32.const 4096))))
  (core instance $memory (instantiate $memory))
  (core func $log (canon lower (func $logging "log") (memory $memory "memory")))

  (core module $hello
    (import "memory" "memory" (memory 1))
    (import "memory" "realloc" (func $realloc (param i32 i32 i32 i32) (result i32)))
    (import "logging" "log" (func $log (param i32 i32)))

    ;; The list has one tool at 8: name, description and parameters, each its address and its length.
    (data (i32.const 0) "\08\00\00\00" "\01\00\00\00")
    (data (i32.const 8) "\00\01\00\00" "\05\00\00\00" "\10\01\00\00" "\1d\00\00\00" "\40\01\00\00" "\6a\00\00\00")
    (data (i32.const 0x100) "greet")
    (data (i32.const 0x110) "Greets one person, in English")
    (data (i32.const 0x140) "{\22type\22:\22object\22,\22properties\22:{\22name\22:{\22type\22:\22string\22}},")
    (data (i32.const 0x179) "\22required\22:[\22name\22],\22additionalProperties\22:false}")

    (data (i32.const 0x200) "{\22name\22:\22")
    (data (i32.const 0x210) "Hello, ")
    (data (i32.const 0x220) "Greeted")
    (data (i32.const 0x230) "{\22greeted\22:1}")
    (data (i32.const 0x240) "A name has no quotes, no backslashes and no line ends")
    (data (i32.const 0x280) "There is nobody to greet")
    (data (i32.const 0x2a0) "refused a name")

    (func (export "list") (result i32) (i32.const 0))

    ;; The arguments are `{"name":"Ada"}`: the schema allows nothing else, and the host writes JSON without spaces.
    (func (export "call") (param $tool i32) (param $tool_size i32) (param $at i32) (param $size i32) (result i32)
      (local $i i32) (local $output i32)
      (if (i32.le_u (local.get $size) (i32.const 11))
        (then (return (call $fail (i32.const 0x280) (i32.const 24)))))
      (loop $prefix
        (if (i32.ne
            (i32.load8_u (i32.add (local.get $at) (local.get $i)))
            (i32.load8_u (i32.add (i32.const 0x200) (local.get $i))))
          (then (return (call $fail (i32.const 0x280) (i32.const 24)))))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br_if $prefix (i32.lt_u (local.get $i) (i32.const 9))))
      ;; From here on the name, without the two characters that end the object.
      (local.set $at (i32.add (local.get $at) (i32.const 9)))
      (local.set $size (i32.sub (local.get $size) (i32.const 11)))
      (local.set $i (i32.const 0))
      (loop $letters
        (if (i32.eq (i32.const 0x5c) (i32.load8_u (i32.add (local.get $at) (local.get $i))))
          (then
            (call $log (i32.const 0x2a0) (i32.const 14))
            (return (call $fail (i32.const 0x240) (i32.const 53)))))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br_if $letters (i32.lt_u (local.get $i) (local.get $size))))
      (local.set $output
        (call $realloc (i32.const 0) (i32.const 0) (i32.const 1) (i32.add (local.get $size) (i32.const 8))))
      (memory.copy (local.get $output) (i32.const 0x210) (i32.const 7))
      (memory.copy (i32.add (local.get $output) (i32.const 7)) (local.get $at) (local.get $size))
      (i32.store8 (i32.add (local.get $output) (i32.add (local.get $size) (i32.const 7))) (i32.const 0x21))
      ;; The answer at 0x300: 0 for success, then title, metadata and output.
      (i32.store8 (i32.const 0x300) (i32.const 0))
      (i32.store (i32.const 0x304) (i32.const 0x220))
      (i32.store (i32.const 0x308) (i32.const 7))
      (i32.store (i32.const 0x30c) (i32.const 0x230))
      (i32.store (i32.const 0x310) (i32.const 13))
      (i32.store (i32.const 0x314) (local.get $output))
      (i32.store (i32.const 0x318) (i32.add (local.get $size) (i32.const 8)))
      (i32.const 0x300))

    ;; 1 for a failure, then the message.
    (func $fail (param $at i32) (param $size i32) (result i32)
      (i32.store8 (i32.const 0x300) (i32.const 1))
      (i32.store (i32.const 0x304) (local.get $at))
      (i32.store (i32.const 0x308) (local.get $size))
      (i32.const 0x300)))
  (core instance $hello (instantiate $hello
    (with "memory" (instance $memory))
    (with "logging" (instance (export "log" (func $log))))))

  (type $tool (record (field "name" string) (field "description" string) (field "parameters" string)))
  (type $output (record (field "title" string) (field "metadata" string) (field "output" string)))
  (func $list (result (list $tool))
    (canon lift (core func $hello "list") (memory $memory "memory")))
  (func $call (param "name" string) (param "arguments" string) (result (result $output (error string)))
    (canon lift (core func $hello "call") (memory $memory "memory") (realloc (func $memory "realloc"))
      (post-return (func $memory "free-all"))))

  ;; An interface exports its types too, and its functions with these types.
  (component $tools
    (type $tool' (record (field "name" string) (field "description" string) (field "parameters" string)))
    (type $output' (record (field "title" string) (field "metadata" string) (field "output" string)))
    (import "tool" (type $tool (eq $tool')))
    (import "output" (type $output (eq $output')))
    (import "list" (func $list (result (list $tool))))
    (import "call" (func $call (param "name" string) (param "arguments" string) (result (result $output (error string)))))
    (export $exported-tool "tool" (type $tool))
    (export $exported-output "output" (type $output))
    (export "list" (func $list) (func (result (list $exported-tool))))
    (export "call" (func $call)
      (func (param "name" string) (param "arguments" string) (result (result $exported-output (error string))))))
  (instance $exported (instantiate $tools
    (with "tool" (type $tool))
    (with "output" (type $output))
    (with "list" (func $list))
    (with "call" (func $call))))
  (export "skillfold:toolset/tools@0.1.0" (instance $exported)))
