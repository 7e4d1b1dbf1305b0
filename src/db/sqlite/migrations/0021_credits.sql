CREATE TABLE `credits` (
	`wallet_id` text NOT NULL,
	`seq` integer NOT NULL,
	`credit_id` text NOT NULL,
	`source` text NOT NULL,
	`amount` integer NOT NULL,
	`left_amount` integer NOT NULL,
	`expired` integer NOT NULL,
	`expires_at_ms` integer,
	`created_at_ms` integer NOT NULL,
	`claims` integer,
	`ended_at_ms` integer,
	`live` integer NOT NULL,
	PRIMARY KEY(`wallet_id`, `seq`),
	CONSTRAINT "credits_left" CHECK("credits"."left_amount" >= 0 AND "credits"."expired" >= 0)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `credits_live` ON `credits` (`wallet_id`) WHERE live;--> statement-breakpoint
CREATE INDEX `credits_due` ON `credits` (`expires_at_ms`) WHERE live AND claims IS NULL;--> statement-breakpoint
ALTER TABLE `transfers` ADD `credits` text;--> statement-breakpoint
ALTER TABLE `wallets` ADD `newest_credit` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `wallets` ADD `mixed` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `wallets` ADD `newest_hold_ms` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `transfers_charges` ON `transfers` (`wallet_id`,`hold_id`) WHERE kind = 6;