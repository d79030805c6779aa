//! What a child gives up before it looks at a file.
//!
//! The limits of processes and the signal of the parent's death hold everywhere. Landlock takes away files and network, and a list of
//! allowed system calls everything else; older kernels have one or none of these, and the parent is told so.

use std::collections::BTreeMap;

use landlock::{ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetStatus, Scope};
use rustix::process::{Resource, Rlimit, Signal, set_parent_process_death_signal, setrlimit};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};

use super::limits::Limits;

/// What confines a child.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Confinement {
    /// Whether Landlock shuts files.
    pub files: bool,
    /// Whether Landlock shuts the network too.
    pub network: bool,
    /// Whether only the listed system calls are allowed. They open neither files nor sockets and start nothing.
    pub calls: bool,
}

impl Confinement {
    pub fn byte(self) -> u8 {
        u8::from(self.files) | u8::from(self.network) << 1 | u8::from(self.calls) << 2
    }

    pub fn of_byte(byte: u8) -> Confinement {
        Confinement { files: byte & 1 != 0, network: byte & 2 != 0, calls: byte & 4 != 0 }
    }

    /// What is missing, in words; `None` where nothing is.
    pub fn missing(self) -> Option<&'static str> {
        match (self.files, self.calls) {
            (_, true) if self.files => None,
            (false, true) => Some("the kernel has no Landlock; system calls are limited"),
            (true, false) => Some("the kernel has no seccomp; Landlock shuts files"),
            _ => Some("the kernel has neither Landlock nor seccomp; only time and memory are limited"),
        }
    }
}

/// Confines this process for ever. An error means that not even the limits of processes hold.
pub fn confine(limits: &Limits) -> std::io::Result<Confinement> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    limit(Resource::As, limits.memory_bytes)?;
    limit(Resource::Cpu, limits.cpu_seconds)?;
    limit(Resource::Fsize, 0)?;
    limit(Resource::Core, 0)?;
    limit(Resource::Nproc, 0)?;
    // Landlock needs one descriptor; afterwards there are the three that are open.
    let (files, network) = shut_files();
    limit(Resource::Nofile, 3)?;
    let calls = allow_calls().is_some();
    Ok(Confinement { files, network, calls })
}

fn limit(resource: Resource, most: u64) -> std::io::Result<()> {
    Ok(setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?)
}

/// Whether files are shut, and whether the network is.
fn shut_files() -> (bool, bool) {
    let abi = ABI::V6;
    let shut = || {
        let rules = Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(abi))?
            .handle_access(AccessNet::from_all(abi))?
            .scope(Scope::from_all(abi))?;
        rules.create()?.restrict_self()
    };
    match shut().map(|status| status.ruleset) {
        Ok(RulesetStatus::FullyEnforced) => (true, true),
        Ok(RulesetStatus::PartiallyEnforced) => (true, false),
        Ok(RulesetStatus::NotEnforced) | Err(_) => (false, false),
    }
}

/// Allows the calls that computing and answering need. Everything else gets EPERM.
fn allow_calls() -> Option<()> {
    let allowed = [
        libc::SYS_read,
        libc::SYS_write,
        libc::SYS_writev,
        libc::SYS_close,
        libc::SYS_brk,
        libc::SYS_mmap,
        libc::SYS_munmap,
        libc::SYS_mremap,
        libc::SYS_mprotect,
        libc::SYS_madvise,
        libc::SYS_futex,
        libc::SYS_sched_yield,
        libc::SYS_sched_getaffinity,
        libc::SYS_getrandom,
        libc::SYS_clock_gettime,
        libc::SYS_gettimeofday,
        libc::SYS_getpid,
        libc::SYS_gettid,
        libc::SYS_sigaltstack,
        libc::SYS_rt_sigaction,
        libc::SYS_rt_sigprocmask,
        libc::SYS_rt_sigreturn,
        libc::SYS_tgkill,
        libc::SYS_restart_syscall,
        libc::SYS_exit,
        libc::SYS_exit_group,
    ];
    let rules: BTreeMap<i64, Vec<seccompiler::SeccompRule>> =
        allowed.into_iter().map(|call| (call, Vec::new())).collect();
    let architecture = std::env::consts::ARCH.try_into().ok()?;
    let refused = SeccompAction::Errno(libc::EPERM as u32);
    let filter = SeccompFilter::new(rules, refused, SeccompAction::Allow, architecture).ok()?;
    let program: BpfProgram = filter.try_into().ok()?;
    apply_filter(&program).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_said() {
        let all = Confinement { files: true, network: true, calls: true };
        assert_eq!((Confinement::of_byte(all.byte()), all.missing()), (all, None));
        assert!(Confinement::default().missing().is_some_and(|words| words.contains("neither")));
    }
}
