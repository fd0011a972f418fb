//! What is fetched of a repository, and how much.

use skillfold_registry::{Address, Fetcher, Pin};

use crate::world::{World, shown};

const MIB: usize = 1 << 20;

#[test]
fn content_with_many_names_counts_as_often_as_it_is_named() {
    let world = World::new();
    world.skills(&["a", "b"]);
    for name in 0..9 {
        world.write(&format!("a/{name}"), vec![0; 8 * MIB]);
    }
    let commit = world.commit();
    insta::assert_snapshot!(world.read(&commit, "a"), @r"
    Refused to open `a/8`
    hint: A skill may have at most 64 MiB and 10,000 files
    ");
    insta::assert_snapshot!(world.read(&commit, "b"), @"SKILL.md");
}

#[test]
fn file_that_is_too_large_is_refused_alone() {
    let world = World::new();
    world.skills(&["a", "b"]);
    world.write("a/large", vec![0; 65 * MIB]);
    world.write("c/SKILL.md", vec![b'x'; 2 * MIB]);
    let commit = world.commit();
    let (address, pin) = (world.address(&commit), Pin::commit(&commit, None));
    let mut fetcher = world.fetcher();
    let snapshot = fetcher.open(&address, &pin).unwrap();
    let read = shown(&world.source(), || {
        let found = snapshot.found(&address)?.clone();
        let names = found.skills.iter().map(|it| it.name.to_string());
        let left_out = found
            .left_out
            .iter()
            .map(|it| format!("{}: {}", it.path, it.reason));
        Ok(names.chain(left_out).collect::<Vec<_>>().join("\n"))
    });
    insta::assert_snapshot!(read, @r"
    a
    b
    c/SKILL.md: File has 2097152 bytes, the limit is 1 MiB
    ");
    let refused = shown(&world.source(), || {
        Ok(snapshot.read("a")?.len().to_string())
    });
    insta::assert_snapshot!(refused, @r"
    Refused to open `a/large`
    hint: A skill may have at most 64 MiB and 10,000 files
    ");
    assert_eq!(snapshot.read("b").unwrap().len(), 1);
}

#[test]
fn every_file_and_folder_of_a_repository_is_counted() {
    let world = World::new();
    let blob = world.git_on(&["hash-object", "-w", "--stdin"], 0, b"x");
    let lines = (0..1_000).map(|name| format!("100644 blob {blob}\t{name}\n"));
    let mut tree = world.tree(&lines.collect::<String>());
    // Two more levels of a thousand folders that are the same.
    for _ in 0..2 {
        let lines = (0..1_000).map(|name| format!("040000 tree {tree}\t{name}\n"));
        tree = world.tree(&lines.collect::<String>());
    }
    let commit = world.commit_tree(&tree);
    insta::assert_snapshot!(world.read(&commit, "a"), @r"
    Refused to open `SOURCE`
    hint: A repository may have at most 500,000 files and folders, 64 folders deep, with 64 MiB of paths
    ");
}

#[test]
fn name_that_is_not_utf8_refuses_only_its_skill() {
    let world = World::new();
    let blob = world.git_on(&["hash-object", "-w", "--stdin"], 0, b"x");
    let id: Vec<u8> = (0..20)
        .map(|at| u8::from_str_radix(&blob[2 * at..2 * at + 2], 16).unwrap())
        .collect();
    let mut names = Vec::new();
    for name in [&b"SKILL.md"[..], b"\xfe", b"\xff"] {
        names.extend([b"100644 ", name, b"\0", &*id].concat());
    }
    let odd = world.git_on(
        &["hash-object", "-t", "tree", "-w", "--stdin", "--literally"],
        0,
        &names,
    );
    let good = world.tree(&format!("100644 blob {blob}\tSKILL.md\n"));
    let top = world.tree(&format!(
        "040000 tree {odd}\todd\n040000 tree {good}\tgood\n"
    ));
    let commit = world.commit_tree(&top);
    insta::assert_snapshot!(world.read(&commit, "good"), @"SKILL.md");
    insta::assert_snapshot!(world.read(&commit, "odd"), @r"
    Refused to open `odd/�`
    hint: The skill has something that is not a plain file, or a name that is not UTF-8; its author has to remove it
    ");
}

#[test]
fn folder_with_an_old_mode_is_a_folder() {
    let world = World::new();
    let blob = world.git_on(&["hash-object", "-w", "--stdin"], 0, b"x");
    let tree = world.tree(&format!("100644 blob {blob}\tSKILL.md\n"));
    let id: Vec<u8> = (0..20)
        .map(|at| u8::from_str_radix(&tree[2 * at..2 * at + 2], 16).unwrap())
        .collect();
    let top = [b"040000 a\0", &*id].concat();
    let top = world.git_on(
        &["hash-object", "-t", "tree", "-w", "--stdin", "--literally"],
        0,
        &top,
    );
    let commit = world.commit_tree(&top);
    insta::assert_snapshot!(world.read(&commit, "a"), @"SKILL.md");
}

#[test]
fn skill_is_read_without_a_look_at_the_others() {
    let world = World::new();
    world.skills(&["a", "b"]);
    let commit = world.commit();
    assert_eq!(world.read(&commit, "a"), "SKILL.md");
    assert!(world.has(&world.git(&["rev-parse", "HEAD:a/SKILL.md"])));
    assert!(!world.has(&world.git(&["rev-parse", "HEAD:b/SKILL.md"])));
}

#[test]
fn skills_that_are_fetched_ahead_are_fetched_at_once() {
    let world = World::new();
    world.skills(&["a", "b", "c"]);
    let commit = world.commit();
    let (address, pin) = (world.address(&commit), Pin::commit(&commit, None));
    let mut fetcher = world.fetcher();
    let snapshot = fetcher.open(&address, &pin).unwrap();
    snapshot.read_ahead(&["a", "b"]).unwrap();
    std::fs::remove_dir_all(world.repository().join(".git/objects/pack")).unwrap();
    for name in ["a", "b"] {
        assert!(world.has(&world.git(&["rev-parse", &format!("HEAD:{name}/SKILL.md")])));
        assert_eq!(snapshot.read(name).unwrap().len(), 1);
    }
    assert!(!world.has(&world.git(&["rev-parse", "HEAD:c/SKILL.md"])));
}

#[test]
fn folder_that_is_named_is_searched_whatever_its_name() {
    let world = World::new();
    world.skills(&[
        ".notes/node_modules/x/a",
        "other/b",
        "skill",
        "skill/template",
    ]);
    let commit = world.commit();
    let names = |folder: &str| {
        let address = format!("{}/.git/{folder}@{commit}", world.source());
        let address = Address::parse(&address.replace("/.git/", ".git/")).unwrap();
        let pin = Pin::commit(&commit, None);
        let mut fetcher = world.fetcher();
        let found = fetcher
            .open(&address, &pin)
            .unwrap()
            .found(&address)
            .unwrap();
        let names = found.skills.iter().map(|it| it.folder.clone());
        names.collect::<Vec<_>>().join(" ")
    };
    std::fs::rename(world.repository(), world.path("repository.git")).unwrap();
    assert_eq!(names(".notes/node_modules"), ".notes/node_modules/x/a");
    assert_eq!(names("skill/template"), "skill/template");
    assert_eq!(names("skill"), "skill");
    assert_eq!(names("other/b"), "other/b");
    assert_eq!(names("none"), "");
}

#[test]
fn repository_of_sha256_is_read_as_any_other() {
    let world = World::with_format("sha256");
    world.skills(&["a"]);
    let commit = world.commit();
    world.git(&["tag", "v1.0.0"]);
    assert_eq!(commit.len(), 64);
    assert_eq!(world.read(&commit, "a"), "SKILL.md");
    let resolved = world.fetcher().resolve(&world.address("^1.0")).unwrap();
    assert_eq!(resolved.pin().unwrap().commit.as_ref(), Some(&commit));
}

#[test]
fn users_default_formats_change_nothing() {
    let world = World::new();
    world.configure("[init]\n\tdefaultObjectFormat = sha256\n\tdefaultRefFormat = reftable\n");
    world.skills(&["a"]);
    let commit = world.commit();
    assert_eq!(world.read(&commit, "a"), "SKILL.md");
}

#[test]
fn old_server_that_gives_only_what_is_named_gives_all_of_it() {
    let world = World::new();
    // Without this variable, the server speaks the first protocol.
    world.configure("[remote \"origin\"]\n\tuploadpack = env -u GIT_PROTOCOL git-upload-pack\n");
    world.skills(&["a"]);
    let commit = world.commit();
    world.write("a/b", "");
    world.commit();
    assert_eq!(world.read(&commit, "a"), "SKILL.md");
}

#[test]
fn tag_in_the_lock_is_only_a_name() {
    let world = World::new();
    world.skills(&["a"]);
    let commit = world.commit();
    let pin = Pin::commit(&commit, Some("v1\n+refs/heads/*:refs/heads/*".to_owned()));
    let opened = shown(&world.source(), || {
        let mut fetcher = world.fetcher();
        Ok(format!("{:?}", fetcher.open(&world.address("v1"), &pin)?))
    });
    insta::assert_snapshot!(opened, @r"
    `v1\u{a}+refs/heads/*:refs/heads/*` is not a tag
    hint: Correct the lock, or restore it from version control
    ");
}

#[cfg(unix)]
#[test]
fn fetch_that_fails_is_not_tried_again_with_everything() {
    let world = World::new();
    world.skills(&["a"]);
    let commit = world.commit();
    let (address, pin) = (world.address(&commit), Pin::commit(&commit, None));
    let options = world.logging();
    std::fs::rename(world.repository(), world.path("elsewhere")).unwrap();
    assert!(Fetcher::new(options).open(&address, &pin).is_err());
    assert_eq!(world.logged(" fetch ").len(), 1);
}

#[cfg(target_os = "linux")]
#[test]
fn snapshot_that_stays_open_keeps_no_process() {
    let world = World::new();
    world.skills(&["a", "b"]);
    let commit = world.commit();
    let (address, pin) = (world.address(&commit), Pin::commit(&commit, None));
    let mut fetcher = Fetcher::new(world.logging());
    let snapshot = fetcher.open(&address, &pin).unwrap();
    assert_eq!(snapshot.found(&address).unwrap().skills.len(), 2);
    for line in world.logged("cat-file") {
        let pid = line.split(['=', ' ']).nth(1).unwrap();
        assert!(!std::path::Path::new("/proc").join(pid).exists());
    }
    assert_eq!(snapshot.read("a").unwrap().len(), 1);
}

#[cfg(unix)]
#[test]
fn ssh_command_of_the_user_is_kept() {
    let world = World::new();
    world.skills(&["a"]);
    world.commit();
    let ssh = |variables: &[(&str, &str)]| {
        let mut options = world.logging();
        let variables = variables.iter();
        let variables = variables.map(|(name, value)| ((*name).into(), (*value).into()));
        options.environment.extend(variables);
        Fetcher::new(options)
            .resolve(&world.address("main"))
            .unwrap();
        let lines = world.logged("ls-remote");
        let line = lines.last().unwrap();
        let ssh = &line[line.find("ssh=").unwrap()..];
        ssh[..ssh.find(" protocols").unwrap()].to_owned()
    };
    let by_variables = [
        ("GIT_CONFIG_COUNT", "1"),
        ("GIT_CONFIG_KEY_0", "core.sshCommand"),
        ("GIT_CONFIG_VALUE_0", "mine"),
    ];
    let too_many = [
        ("GIT_CONFIG_COUNT", "99"),
        ("GIT_CONFIG_KEY_0", "core.sshCommand"),
    ];
    assert_eq!(ssh(&[]), "ssh=ssh -oBatchMode=yes");
    assert_eq!(ssh(&[("GIT_SSH_COMMAND", "mine")]), "ssh=mine");
    assert_eq!(ssh(&by_variables), "ssh=");
    assert_eq!(ssh(&too_many), "ssh=ssh -oBatchMode=yes");
    world.configure("[core]\n\tsshCommand = mine\n");
    assert_eq!(ssh(&[]), "ssh=");
}

#[cfg(unix)]
#[test]
fn plain_http_is_only_for_sources_that_have_it() {
    let world = World::new();
    world.skills(&["a"]);
    world.commit();
    Fetcher::new(world.logging())
        .resolve(&world.address("main"))
        .unwrap();
    let address = Address::parse("http://127.0.0.1:1/x").unwrap();
    assert!(Fetcher::new(world.logging()).resolve(&address).is_err());
    let protocols = world.logged("ls-remote");
    assert!(protocols[0].contains("protocols=https:ssh:file "));
    assert!(protocols[1].contains("protocols=https:http:ssh:file "));
}
