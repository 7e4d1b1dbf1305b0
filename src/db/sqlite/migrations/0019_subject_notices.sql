CREATE TABLE `subject_crossings` (
	`id` text PRIMARY KEY NOT NULL,
	`rule_id` text NOT NULL,
	`account_id` text NOT NULL,
	`percent` integer NOT NULL,
	`limit_id` text NOT NULL,
	`kind` text NOT NULL,
	`subject` text NOT NULL,
	`resets_at_ms` integer NOT NULL,
	`hour_ms` integer NOT NULL,
	`kept_until_ms` integer NOT NULL,
	`notice_id` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `subject_crossings_once` ON `subject_crossings` (`rule_id`,`percent`,`limit_id`,`subject`,`resets_at_ms`);--> statement-breakpoint
CREATE INDEX `subject_crossings_account` ON `subject_crossings` (`account_id`,`hour_ms`);--> statement-breakpoint
CREATE INDEX `subject_crossings_pending` ON `subject_crossings` (`hour_ms`) WHERE notice_id IS NULL;--> statement-breakpoint
CREATE INDEX `subject_crossings_kept` ON `subject_crossings` (`kept_until_ms`);--> statement-breakpoint
CREATE TABLE `subject_positions` (
	`account_id` text PRIMARY KEY NOT NULL,
	`position` integer NOT NULL
);
--> statement-breakpoint
ALTER TABLE `notices` ADD `of_subject` integer DEFAULT false NOT NULL;